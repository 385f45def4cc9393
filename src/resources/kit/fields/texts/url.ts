import Type from 'typebox'
import { explained } from '#src/http/schemas.ts'
import { orEmpty } from '../control.ts'
import { field } from '../field.ts'

const words = 'must be a web address such as https://example.com/page, without a user name'
/** Printable ASCII without spaces, quotes and brackets of markup; before the path no `@`. */
const pattern = explained('^https?://[A-Za-z0-9.\\[\\]:-]+([/?#][!#-;=?-\\[\\]_a-z~%]*)?$', words)
const isUrl = new RegExp(pattern)

const examples = ['https://acme.example/plan']

/** A page or file on the web, at most 2,000 characters. */
export const url = (description?: string) => {
  const Url = Type.String({ pattern, maxLength: 2_000, examples })
  return field('text', Type.String({ examples }), {
    description,
    usual: 'The address of a page or file on the web',
    written: Url,
    filter: Url,
    control: {
      as: 'line',
      schema: (mayBeEmpty) => orEmpty(Url, mayBeEmpty),
      rule: 'A web address such as https://example.com/page, without a user name',
      attributes: { type: 'url', maxlength: 2_000 },
      read: (text) => (URL.canParse(text) ? text : undefined),
      text: String,
    },
    // A row that another program wrote could have another scheme, which a browser runs.
    onPage: (value) => {
      const text = String(value)
      return isUrl.test(text) ? { text, href: text } : { text }
    },
    isLong: true,
    neutral: 'https://erased.invalid/',
  })
}
