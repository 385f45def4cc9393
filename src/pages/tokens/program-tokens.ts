import Type from 'typebox'
import type { Token } from '#src/auth/tokens/store.ts'
import { Uuid } from '#src/http/schemas.ts'
import {
  badge,
  confirmation,
  confirmBox,
  confirmedField,
  pageHead,
} from '#src/pages/kit/components.ts'
import { boxes, chosen, formOf, renderForm, ticked } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import {
  type ShownSecret,
  shownQuery,
  submissionField,
  submissionFields,
} from '#src/pages/kit/form-submission.ts'
import { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
import { doneQuery, layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { newTokenSection, tokenFields, tokenName } from '../account/tokens.ts'

/** The form that creates a token for a program: a service or the app. */
export function programTokenForm(permissions: readonly string[]) {
  return formOf({
    ...tokenFields,
    permissions: boxes(ticked(permissions), 'Permissions (it may do nothing else)', {
      rule: 'Select at least one permission.',
    }),
  })
}

const dayMs = 86_400_000

/** What the form has sent. */
export function readProgramTokenForm<Permission extends string>(
  {
    name,
    days,
    permissions,
  }: { name: string; days: string; permissions?: Permission | Permission[] },
  now: Date,
) {
  const expiresAt = new Date(now.getTime() + Number(days) * dayMs)
  return { name, permissions: chosen(permissions), expiresAt: expiresAt.toISOString() }
}

/** The query of the page, and its forms that rotate and revoke a token. */
export const tokensQuery = Type.Object(
  { ...doneQuery, ...shownQuery },
  { additionalProperties: false },
)
export const rotateForm = Type.Object(
  { ...submissionFields, id: Uuid, ...confirmedField },
  { additionalProperties: false },
)
export const revokeForm = Type.Object(
  { id: Uuid, ...confirmedField },
  { additionalProperties: false },
)

export type ProgramTokensView = {
  viewer: Viewer
  tokens: readonly Omit<Token, 'createdAt' | 'secretRotatedAt'>[]
  /** For marking tokens that have expired. */
  now: Date
  /** A secret that was just created, with the name of its token as the note. */
  newToken: ShownSecret | 'gone' | null
  done: string | undefined
  /** Above the tokens. */
  warning?: Html
  /** Name of a user who created a token; null for one who is no member any more. */
  nameOf: (userId: number) => string | null
}

const notices = { removed: 'Token revoked. Its next request will be refused.' } as const
export type TokenNotice = keyof typeof notices

/** How the pages of one kind of token differ from those of the other. */
export type ProgramTokenKind = {
  path: `/${string}`
  /** `App token`. */
  name: string
  lead: string
  /** Instead of the tokens, if there are none. */
  empty: Html
  form: ReturnType<typeof programTokenForm>
  /** The permissions as the form offers them, line by line. */
  offered: readonly (readonly string[])[]
  /** In place of the name of a creator who is not known. */
  unknownCreator: string
  /** Asked before a secret is rotated, and before a token is revoked. */
  questions: { rotate: string; revoke: string }
}

/** The tokens of programs, with forms to rotate and revoke one. */
export function programTokensPage(view: ProgramTokensView, kind: ProgramTokenKind): Page {
  const { viewer, tokens, newToken, warning } = view
  const { path, name, lead } = kind
  return layout(
    `${name}s`,
    html`${pageHead({
      title: `${name}s`,
      lead,
      actions: html`<a class="button" href="${path}/new">Create a token</a>`,
    })}
      ${noticeText(notices, view.done)}
      ${warning ?? ''}
      ${newToken === null ? '' : newTokenSection(name, newToken, 'rotate its secret')}
      <section class="card" aria-labelledby="tokens">
        <h2 id="tokens">Tokens</h2>
        ${
          tokens.length === 0
            ? html`<p class="quiet">${kind.empty}</p>`
            : html`<div class="lead">${table(
                columns,
                tokens.map((token) => tokenRow(token, view, kind)),
              )}</div>
        <p class="quiet small">To rotate a secret you must have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true&amp;return_to=${path}">Confirm your identity</a> first.</p>`
        }
      </section>`,
    { current: path, ...viewer },
  )
}

const columns = [
  { label: 'Name', kind: 'wrap' },
  { label: 'Permissions', kind: 'wrap' },
  { label: 'Created by', kind: 'wrap' },
  { label: 'Expires' },
  { label: 'Last used' },
  { label: 'Rotate', kind: 'actions' },
  { label: 'Revoke', kind: 'actions' },
] as const

function tokenRow(
  {
    id,
    name,
    hint,
    permissions,
    createdBy,
    expiresAt,
    lastUsedAt,
  }: ProgramTokensView['tokens'][number],
  { now, nameOf }: ProgramTokensView,
  { path, unknownCreator, questions }: ProgramTokenKind,
): Html[] {
  const creator = createdBy === null ? null : nameOf(createdBy)
  const expired = new Date(expiresAt) <= now ? html` ${badge('Expired', 'bad')}` : ''
  return [
    tokenName(name, hint),
    html`${permissions.join(', ')}`,
    creator === null
      ? html`<span class="quiet">${unknownCreator}</span>`
      : html`${isolated(creator)}`,
    html`${timeText(expiresAt)}${expired}`,
    timeText(lastUsedAt),
    confirmation({
      label: 'Rotate',
      name: `Rotate the secret of ${name}`,
      action: `${path}/rotate`,
      fields: html`${submissionField()}<input type="hidden" name="id" value="${id}">
                ${confirmBox(questions.rotate)}`,
      button: 'Rotate secret',
    }),
    confirmation({
      label: 'Revoke',
      name: `Revoke the token ${name}`,
      action: `${path}/remove`,
      fields: html`<input type="hidden" name="id" value="${id}">
                ${confirmBox(questions.revoke)}`,
      button: 'Revoke',
    }),
  ]
}

/** The form that creates a token for a program. */
export function newProgramTokenPage(viewer: Viewer, kind: ProgramTokenKind): Page {
  const { path, name, lead, form, offered } = kind
  return formPage({
    viewer,
    list: { href: path, label: `${name}s` },
    heading: `New ${name.toLowerCase()}`,
    lead,
    content: renderForm(
      form,
      {
        ...{ viewer, action: `${path}/new`, values: { days: '90' } },
        offered: { permissions: offered },
      },
      ({ name, days, permissions }) => html`<div class="pair">${name}${days}</div>
          ${permissions}
          <button class="button">Create token</button>`,
    ),
  })
}
