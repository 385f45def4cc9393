import { type Accent, type Brand, builtInAccent } from '#src/config/brand.ts'
import { wordsIn } from '#src/mail/language.ts'
import type { Body, Message, Words } from '#src/mail/message.ts'
import { hiddenExpression, isolatedText } from '#src/runtime/text.ts'
import { type Html, html, isolated } from './html.ts'

/** A message as plain text and as HTML, with the name, the logo and the colours of the product. */
export function renderMail(message: Message, brand: Brand): Body {
  const logo = brand.logo?.type === logoType ? brand.logo : null
  return {
    text: textOf(message, brand),
    html: htmlOf(message, brand, logo !== null),
    images: logo === null ? [] : [{ cid: logoId, png: logo.bytes }],
  }
}

// The only type of a logo that every mail program shows.
const logoType = 'image/png'
const logoId = 'logo@gatehouse'

function textOf(message: Message, { name, supportUrl }: Brand): string {
  const { language, heading, paragraphs, action, facts, footer } = message
  const { support } = wordsIn(language)
  return [
    plain(heading),
    '',
    ...paragraphs.flatMap((words) => [plain(words), '']),
    `${action.label}:`,
    action.url,
    '',
    ...facts.map(([label, value]) => `${label}: ${plain(value)}`),
    ...(facts.length === 0 ? [] : ['']),
    ...footer.map(plain),
    '',
    supportUrl === null ? name : `${name}. ${support}: ${supportUrl}`,
    '',
  ].join('\n')
}

// As long as an address may be.
const shownCharacters = 320

/** Words of people on one line, without what is not seen. */
function lineOf(text: string): string {
  const line = text.replace(hiddenExpression, '').replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Z}]+/gu, ' ')
  return [...line].slice(0, shownCharacters).join('')
}

function plain(words: Words): string {
  return words
    .map((part) => (typeof part === 'string' ? part : isolatedText(lineOf(part.of))))
    .join('')
}

function marked(words: Words): Html {
  return html`${words.map((part) => (typeof part === 'string' ? html`${part}` : isolated(lineOf(part.of))))}`
}

// The colours of src/pages/kit/gatehouse.css: mail programs know no variables.
const light = {
  ...{ paper: '#f6f7f6', card: '#ffffff', ink: '#171c1f', quiet: '#566268', line: '#e2e6e4' },
}
const dark = {
  ...{ paper: '#101314', card: '#181c1e', ink: '#e7ebed', quiet: '#a0adb3', line: '#2a3135' },
}
const font = "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
const quietText = `${font}; font-size: 13px; line-height: 20px; color: ${light.quiet}`
const bodyText = `${font}; font-size: 16px; line-height: 24px; color: ${light.ink}`

/**
 * Tables and styles in attributes, which every mail program knows. The style sheet is for dark schemes;
 * programs that drop it show the light one. Nothing is loaded from elsewhere.
 */
function htmlOf(message: Message, { name, accent, supportUrl }: Brand, hasLogo: boolean): string {
  const { language, heading, paragraphs, action, facts, footer } = message
  const { openAddress, support } = wordsIn(language)
  const colours = accent ?? builtInAccent
  return html`<!doctype html>
<html lang="${language}" dir="ltr">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="supported-color-schemes" content="light dark">
    <title>${plain(heading)}</title>
    ${styleOf(colours)}
  </head>
  <body class="paper" style="margin: 0; padding: 0; background: ${light.paper}">
    <table class="paper" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${light.paper}">
      <tr>
        <td align="center" style="padding: 24px 12px">
          <table role="presentation" width="560" cellpadding="0" cellspacing="0" border="0" style="width: 100%; max-width: 560px; text-align: left">
            <tr><td class="accent" style="${font}; padding: 0 4px 14px; font-size: 17px; font-weight: 700; color: ${colours.light.colour}">${hasLogo ? logo : ''}${name}</td></tr>
            <tr>
              <td class="card" bgcolor="${light.card}" style="padding: 28px 24px; border: 1px solid ${light.line}; border-radius: 10px">
                <h1 class="ink" style="${font}; margin: 0 0 14px; font-size: 22px; line-height: 29px; color: ${light.ink}; overflow-wrap: anywhere">${marked(heading)}</h1>
                ${paragraphs.map((words) => html`<p class="ink" style="${bodyText}; margin: 0 0 14px; overflow-wrap: anywhere">${marked(words)}</p>`)}
                <table role="presentation" cellpadding="0" cellspacing="0" border="0">
                  <tr><td class="button" bgcolor="${colours.light.colour}" style="border-radius: 8px"><a class="label" href="${action.url}" style="${font}; display: inline-block; padding: 12px 22px; font-size: 16px; font-weight: 600; color: ${colours.light.text}; text-decoration: none">${action.label}</a></td></tr>
                </table>
                ${facts.length === 0 ? '' : factTable(facts)}
                <p class="quiet" style="${quietText}; margin: 18px 0 0">${openAddress}<br><a class="accent" href="${action.url}" style="color: ${colours.light.colour}; overflow-wrap: anywhere; word-break: break-all">${action.url}</a></p>
              </td>
            </tr>
            <tr>
              <td style="padding: 14px 4px 0">
                ${footer.map((words) => html`<p class="quiet" style="${quietText}; margin: 0 0 6px; overflow-wrap: anywhere">${marked(words)}</p>`)}
                ${supportUrl === null ? '' : html`<p class="quiet" style="${quietText}; margin: 0"><a class="accent" href="${supportUrl}" style="color: ${colours.light.colour}">${support}</a></p>`}
              </td>
            </tr>
          </table>
        </td>
      </tr>
    </table>
  </body>
</html>
`.markup
}

const logo = html`<img src="cid:${logoId}" width="24" height="24" alt="" style="margin-right: 8px; vertical-align: middle; border: 0">`

function factTable(facts: Message['facts']): Html {
  const rows = facts.map(
    ([label, value]) =>
      html`<tr><th class="quiet" scope="row" align="left" valign="top" style="${quietText}; padding: 3px 16px 3px 0; font-weight: 400; white-space: nowrap">${label}</th><td class="ink" style="${quietText}; padding: 3px 0; color: ${light.ink}; overflow-wrap: anywhere">${marked(value)}</td></tr>`,
  )
  return html`<table cellpadding="0" cellspacing="0" border="0" style="margin-top: 18px">${rows}</table>`
}

function styleOf({ dark: accent }: Accent): Html {
  return html`<style>
      :root { color-scheme: light dark; }
      @media (prefers-color-scheme: dark) {
        .paper { background: ${dark.paper} !important; }
        .card { background: ${dark.card} !important; border-color: ${dark.line} !important; }
        .ink { color: ${dark.ink} !important; }
        .quiet { color: ${dark.quiet} !important; }
        .accent { color: ${accent.colour} !important; }
        .button { background: ${accent.colour} !important; }
        .label { color: ${accent.text} !important; }
      }
    </style>`
}
