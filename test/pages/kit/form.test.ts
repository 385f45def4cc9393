import t from 'tap'
import Type from 'typebox'
import type { FormDraft } from '#src/http/form-draft.ts'
import { Line, Text, Uuid } from '#src/http/schemas.ts'
import {
  area,
  box,
  boxes,
  choice,
  chosen,
  type Field,
  folded,
  formOf,
  hidden,
  line,
  orEmpty,
  renderForm,
  submission,
  ticked,
  version,
} from '#src/pages/kit/form.ts'
import { html } from '#src/pages/kit/html.ts'

const action = '/app/x'
const draft = (fields: FormDraft['fields'], more: Partial<FormDraft> = {}): FormDraft => ({
  action,
  fields,
  sender: 7,
  reason: null,
  faults: [],
  ...more,
})

type Shown = Parameters<typeof renderForm>[1]['values']

/** The form of one field `a`. */
function formWith(field: Field, values: NonNullable<Shown>, kept: FormDraft | null, more = {}) {
  const place = { viewer: { userId: 7, draft: kept }, action, values, ...more }
  return renderForm(formOf({ a: field }), place, ({ a }) => a)
}

/** Its field alone. */
function fieldWith(...args: Parameters<typeof formWith>): string {
  return formWith(...args)
    .markup.replace(/^.*name="sender" value="7">/s, '')
    .replace(/<p class="notice".*?<\/p>/s, '')
    .replace('</form>', '')
    .trim()
}

const evil = '"><script>$&'
const escaped = html`${evil}`.markup

t.test('what a field is for is in its label, also beside a fault', async (t) => {
  const field = line(Line(20), 'A', { hint: evil })
  t.match(fieldWith(field, {}, null), `<span class="quiet">${escaped}</span></label>`)
  const refused = draft([['a', '']], { faults: [['a', 'must be a line']] })
  t.match(fieldWith(field, {}, refused), `<span class="quiet">${escaped}</span><span class="fault"`)
})

t.test('a schema gives the limits of its input', async (t) => {
  const rows: [Field, string][] = [
    [line(Line(20), 'A'), ' maxlength="20" autocomplete="off" required value=""'],
    [line(orEmpty(Line(20)), 'A'), ' maxlength="20" autocomplete="off" value=""'],
    [line(Type.String(), 'A', { required: true }), ' autocomplete="off" required value=""'],
    [
      line(Type.String(), 'A', { rule: 'Two', attributes: { type: 'url', pattern: 'x' } }),
      ' autocomplete="off" title="Two" type="url" pattern="x" value=""',
    ],
  ]
  for (const [field, attributes] of rows) {
    const expected = `<label>A <input name="a"${attributes}></label>`
    t.equal(fieldWith(field, {}, null), expected)
  }
  const text = fieldWith(area(Text(50), 'A', { attributes: { rows: 3 } }), { a: evil }, null)
  t.equal(
    text,
    `<label>A <textarea name="a" maxlength="50" rows="3" required>\n${escaped}</textarea></label>`,
  )
})

t.test('a form accepts its fields and nothing else', async (t) => {
  const { schema } = formOf({
    submission,
    version,
    id: hidden(Uuid),
    title: line(Line(20), 'Title'),
    some: boxes(ticked(['x', 'y']), 'Some'),
    yes: box('yes', 'Yes'),
  })
  t.same(schema.required, ['submission', 'id', 'title', 'some'])
  t.match(schema, { additionalProperties: false })
  t.equal(schema.properties.title.maxLength, 20)
})

t.test('each kind of field shows what was entered, escaped', async (t) => {
  const one = line(orEmpty(Line(20)), 'A')
  const two = choice(Type.String(), 'A', { options: { '1': 'One', two: 'two' } })
  const some = boxes(ticked(['1', '2', '3']), 'A')
  const offered = { offered: { a: [['1', '2', '3']] } }
  t.match(fieldWith(one, { a: 'old' }, draft([['a', evil]])), `value="${escaped}"`)
  t.match(fieldWith(one, { a: 'old' }, draft([['a', '']])), 'value=""')
  t.match(fieldWith(one, { a: 'old' }, draft([['b', 'x']])), 'value="old"')
  t.match(
    fieldWith(area(Text(20), 'A'), { a: 'old' }, draft([['a', evil]])),
    `>\n${escaped}</textarea>`,
  )
  t.match(
    fieldWith(area(Text(20), 'A'), { a: '\nold' }, null),
    '>\n\nold</textarea>',
    'browsers ignore the first line break',
  )
  t.equal(
    fieldWith(two, { a: '1' }, draft([['a', 'two']])),
    '<label>A <select name="a"><option value="1">One</option><option selected>two</option></select></label>',
  )
  t.match(fieldWith(two, { a: '1' }, null), '<option value="1" selected>One')
  const boxesOf = (markup: string) =>
    [...markup.matchAll(/value="(\d)"( checked)?/g)].map(([, value, checked]) => [value, !!checked])
  const ticks = draft([
    ['a', '2'],
    ['a', '3'],
  ])
  t.same(boxesOf(fieldWith(some, { a: ['1'] }, ticks, offered)), [
    ['1', false],
    ['2', true],
    ['3', true],
  ])
  t.same(boxesOf(fieldWith(some, { a: ['1'] }, draft([['b', 'x']]), offered)), [
    ['1', false],
    ['2', false],
    ['3', false],
  ])
  t.match(fieldWith(box('1', 'A'), { a: '' }, draft([['a', '1']])), 'value="1" checked>')
  t.notMatch(fieldWith(box('1', 'A'), { a: '1' }, draft([['b', 'x']])), 'checked')
})

t.test('what boxes send is a list without duplicates', async (t) => {
  t.same(chosen(undefined), [])
  t.same(chosen('a'), ['a'])
  t.same(chosen(['a', 'b', 'a']), ['a', 'b'])
})

t.test('a password is never filled in, nor is the id of a submission', async (t) => {
  const secret = line(Type.String(), 'A', { attributes: { type: 'password' } })
  t.notMatch(fieldWith(secret, { a: 'old' }, draft([['a', 'typed']])), 'value')
  const field = fieldWith(submission, { a: 'old' }, draft([['a', 'sent']]))
  t.match(field, /name="submission" value="[0-9a-f-]{36}"/)
  t.notMatch(field, /old|sent/)
})

t.test('a version is the one that the text was typed beside', async (t) => {
  t.match(fieldWith(version, { a: 'new' }, draft([['a', 'old']])), 'value="old"')
  t.match(fieldWith(version, { a: 'new' }, draft([['b', 'x']])), 'value="new"')
  t.match(fieldWith(version, { a: 'new' }, null), 'value="new"')
})

t.test(
  'of several forms the one with the same action and hidden fields is filled in',
  async (t) => {
    const fields = formOf({ id: hidden(Uuid), a: line(Line(20), 'A') })
    const kept = draft([
      ['id', '2'],
      ['a', 'text'],
    ])
    const isFilled = (id: number, to = action) =>
      renderForm(
        fields,
        { viewer: { userId: 7, draft: kept }, action: to, values: { id } },
        ({ a }) => a,
      ).isRefilled
    t.same(
      [1, 2, 3].map((id) => isFilled(id)),
      [false, true, false],
    )
    t.notOk(isFilled(2, '/app/other'))
    t.ok(isFilled(2, `${action}#part`), 'a fragment is not sent')
  },
)

t.test('a form says why it is shown again', async (t) => {
  const field = line(orEmpty(Line(20)), 'A')
  const shown = (more: Partial<FormDraft>) => formWith(field, {}, draft([['a', 'x']], more)).markup
  t.match(shown({}), /<p class="notice" role="status">[^<]*It has not been sent yet.<\/p>/)
  t.match(
    shown({ reason: 'Too <late>.' }),
    '<p class="notice fault" role="alert">Too &lt;late&gt;. What you entered is shown again.</p>',
  )
  t.match(shown({ faults: [['a', 'is wrong']] }), 'Nothing was changed. Correct the fields')
  t.notMatch(formWith(field, {}, null).markup, 'notice')
})

t.test('faults stand beside their fields; the others are in the notice', async (t) => {
  const fields = formOf({
    submission,
    a: line(Line(20), 'A'),
    b: area(Text(20), 'B'),
    c: choice(Type.String(), 'C'),
    d: boxes(ticked(['1']), 'D', { rule: 'Tick one.' }),
    e: box('1', 'E'),
  })
  const faults = [
    ['submission', 'is missing'],
    ['b', 'is too long'],
    ['c', 'Must be one of y.'],
    ['d', 'is not known'],
    ['e', 'is not 1'],
    ['<evil>', 'is not known'],
  ] as const
  const viewer = { userId: 7, draft: draft([['a', '']], { faults }) }
  const { markup } = renderForm(
    fields,
    { viewer, action, options: { c: [['x', 'x']] } },
    ({ a, b, c, d, e }) => html`${[a, b, c, d, e]}`,
  )
  const mark = (name: string) => ` aria-invalid="true" aria-describedby="fault-${name}"`
  const text = (name: string, words: string) =>
    `<span class="fault" id="fault-${name}">${words}</span>`
  t.match(markup, `<input name="a" maxlength="20" autocomplete="off" required value="">`)
  t.ok(
    markup.includes(
      `required${mark('b')} autofocus>\n</textarea>${text('b', 'Is too long.')}</label>`,
    ),
    'the first fault has the focus',
  )
  t.ok(
    markup.includes(
      `<select name="c"${mark('c')}><option>x</option></select>${text('c', 'Must be one of y.')}`,
    ),
  )
  t.ok(
    markup.includes(`<fieldset${mark('d')}><legend>D</legend>${text('d', 'Tick one.')}</fieldset>`),
  )
  t.match(
    markup,
    '<bdi>submission</bdi> is missing. <bdi>e</bdi> is not 1. <bdi>&lt;evil&gt;</bdi> is not known.</p>',
  )
})

t.test('on one line the label is for screen readers', async (t) => {
  const more = { inline: true, labels: { a: `A of ${evil}` } }
  const field = fieldWith(line(Line(20), 'A'), {}, null, more)
  t.match(field, new RegExp(`^<input [^>]*aria-label="A of ${RegExp.escape(escaped)}"[^>]*>$`))
})

t.test('what folds a form away is open if something was entered', async (t) => {
  const field = line(Line(20), 'A')
  const { markup: open } = folded('More', formWith(field, {}, draft([['a', 'x']])), 'confirm')
  t.match(open, /^<details class="confirm" open>\s*<summary>More<\/summary>/)
  t.match(folded('More', formWith(field, {}, null)).markup, /^<details>/)
})
