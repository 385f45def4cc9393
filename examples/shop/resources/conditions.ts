import type { Condition } from 'gatehouse'

/* Specification, Request authentication and authorization: the attribute rule, for editors. */

const editors = ({ role }: { readonly role: string | null }) => role === 'editor'

export const ofAnotherDepartment: Condition<{ readonly department: string | null }> = {
  name: 'editor-of-another-department',
  words: 'editors only in their own department',
  detail: 'Editors can change only what belongs to their own department.',
  appliesTo: editors,
  forbids: ({ caller: { department }, object }) =>
    department === null || department !== object.department,
}

const [firstHour, endHour] = [9, 17] // 09:00 to 17:00 UTC

export const outsideOfficeHours: Condition<object> = {
  name: 'editor-outside-hours',
  words: 'editors only from 09:00 until before 17:00 UTC',
  detail: 'Editors can change this only between 09:00 and 17:00 UTC.',
  appliesTo: editors,
  forbids: ({ now }) => !(now.getUTCHours() >= firstHour && now.getUTCHours() < endHour),
}
