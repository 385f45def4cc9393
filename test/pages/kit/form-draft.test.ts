import t from 'tap'
import { fillForm } from '#src/pages/kit/form-draft.ts'
import { html } from '#src/pages/kit/html.ts'

const draft = (fields: [string, string][], action = '/app/x?a=1&b=2') => ({
  page: '/app/x',
  action,
  fields,
  session: null,
  reason: null,
  faults: [],
})
const end = '<button>Send</button></form>'
const form = (content: string, action = '/app/x?a=1&amp;b=2') =>
  `<form class="form" method="post" action="${action}">${content}${end}`
const notice = '<p class="notice" role="status">'

/** The content of the filled form, without the notice. */
function filled(content: string, fields: [string, string][]): string {
  const markup = fillForm(form(content), draft(fields))
  return markup.replace(/<p class="notice".*?<\/p>/, '').slice(form('').indexOf(end), -end.length)
}

t.test('each kind of field shows what was entered, escaped', async (t) => {
  const evil = '"><script>$&'
  const escaped = html`${evil}`.markup
  const rows: [string, [string, string][], string][] = [
    ['<input name="a">', [['a', evil]], `<input name="a" value="${escaped}">`],
    ['<input name="a" value="old" required>', [['a', '']], '<input name="a" required value="">'],
    ['<input type="url" name="a">', [['b', 'x']], '<input type="url" name="a">'],
    [
      '<textarea name="a">old</textarea>',
      [['a', evil]],
      `<textarea name="a">${escaped}</textarea>`,
    ],
    [
      '<select name="a"><option value="1" selected>One</option><option>two</option></select>',
      [['a', 'two']],
      '<select name="a"><option value="1">One</option><option selected>two</option></select>',
    ],
    [
      '<input type="checkbox" name="a" value="1" checked><input type="checkbox" name="a" value="2"><input type="checkbox" name="a" value="3">',
      [
        ['a', '2'],
        ['a', '3'],
      ],
      '<input type="checkbox" name="a" value="1"><input type="checkbox" name="a" value="2" checked><input type="checkbox" name="a" value="3" checked>',
    ],
    [
      '<input type="radio" name="a" value="1" checked><input type="radio" name="a" value="">',
      [['a', '']],
      '<input type="radio" name="a" value="1"><input type="radio" name="a" value="" checked>',
    ],
    [
      '<details><summary>More</summary><input name="a"></details>',
      [['a', 'x']],
      '<details open><summary>More</summary><input name="a" value="x"></details>',
    ],
  ]
  for (const [content, fields, expected] of rows) t.equal(filled(content, fields), expected)
})

t.test('a form is the same although the id of its submission is new', async (t) => {
  const id = (value: string) => `<input type="hidden" name="submission" value="${value}">`
  const sent: [string, string][] = [
    ['submission', 'first'],
    ['a', 'x'],
  ]
  const expected = `${id('second')}<input name="a" value="x">`
  t.equal(filled(`${id('second')}<input name="a">`, sent), expected)
})

t.test('passwords, hidden fields and confirmations are not filled in', async (t) => {
  for (const content of [
    '<input type="password" name="a">',
    '<input type="hidden" name="a" value="1">',
    '<input type="checkbox" name="a" value="1" required>',
  ]) {
    const markup = form(content)
    t.equal(fillForm(markup, draft([['a', '1']])), markup, content)
  }
})

t.test(
  'of several forms the one with the same action and hidden fields is filled in',
  async (t) => {
    const member = (id: number) =>
      form(`<input type="hidden" name="id" value="${id}"><input name="a">`)
    const others = [
      form('<input name="a">', '/app/other'),
      '<form method="get" action="/app/x?a=1&amp;b=2"><input name="a"></form>',
    ]
    const page = [...others, member(1), member(2), member(3)].join('')
    const fields: [string, string][] = [
      ['id', '2'],
      ['a', 'text'],
    ]
    const shown = fillForm(page, draft(fields))
    const changed = member(2).replace('<input name="a">', '<input name="a" value="text">')
    const start = changed.indexOf('<input')
    const parts = shown.split(/<p class="notice".*?<\/p>/)
    t.equal(parts.length, 2, 'one notice')
    t.equal(
      parts.join(''),
      page.replace(member(2), () => changed),
    )
    t.ok(parts[0]?.endsWith(changed.slice(0, start)))
  },
)

t.test('a form with nothing to fill in has no notice', async (t) => {
  const markup = form('<input type="hidden" name="id" value="1">')
  t.notMatch(fillForm(markup, draft([['id', '1']])), notice)
})

t.test('faults stand beside their fields; the others are in the notice', async (t) => {
  const content =
    '<input name="a"><textarea name="b">old</textarea><select name="c"><option>x</option></select><input type="checkbox" name="d" value="1">'
  const faults = [
    ['a', 'must not be empty'],
    ['b', 'is too long'],
    ['c', 'must be one of y'],
    ['d', 'is not known'],
    ['<evil>', 'is not known'],
  ] as const
  const shown = fillForm(form(content), { ...draft([['a', '']]), faults })
  const mark = (name: string) => `aria-invalid="true" aria-describedby="fault-${name}"`
  const text = (name: string, words: string) =>
    `<span class="fault" id="fault-${name}">${words}</span>`
  t.ok(
    shown.includes(
      `<input name="a" value="" ${mark('a')} autofocus>${text('a', 'Must not be empty.')}`,
    ),
  )
  t.ok(shown.includes(`<textarea name="b" ${mark('b')}>old</textarea>${text('b', 'Is too long.')}`))
  t.ok(
    shown.includes(
      `<select name="c" ${mark('c')}><option>x</option></select>${text('c', 'Must be one of y.')}`,
    ),
  )
  t.match(shown, '<bdi>d</bdi> is not known. <bdi>&lt;evil&gt;</bdi> is not known.</p>')
})

t.test('a form that is folded away is unfolded, others are not', async (t) => {
  const folded = (action: string) =>
    `<details class="confirm"><summary>Delete</summary>${form('<input name="a">', action)}</details>`
  const page = `${folded('/app/other')}${folded('/app/x?a=1&amp;b=2')}${folded('/app/third')}`
  const shown = fillForm(page, draft([['a', 'text']]))
  const parts = shown.split('<details class="confirm"')
  t.same(
    parts.slice(1).map((part) => part.startsWith(' open>')),
    [false, true, false],
  )
})
