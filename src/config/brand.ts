import { readFileSync, statSync } from 'node:fs'
import {
  contrast,
  darkSurfaces,
  lightSurfaces,
  minContrast,
  nearestReadable,
  worstSurface,
} from './contrast.ts'

/** How the pages name and colour the product. */
export type Brand = {
  readonly name: string
  readonly logo: Logo | null
  /** Colour of links and buttons; null for the built-in one. */
  readonly accent: Accent | null
  /** https: or mailto: */
  readonly supportUrl: string | null
  readonly termsUrl: string | null
}

export type Logo = { readonly type: string; readonly bytes: Uint8Array }

/** `#rrggbb` in each scheme, and the text on a button of that colour. */
export type Accent = { readonly [scheme in 'light' | 'dark']: { colour: string; text: string } }

/** The accent of src/pages/kit/gatehouse.css. */
export const builtInAccent: Accent = {
  light: { colour: '#1c5d4d', text: '#ffffff' },
  dark: { colour: '#74cbb2', text: '#0f201b' },
}

/** The brand without any setting. */
export const plainBrand: Brand = {
  name: 'Gatehouse',
  logo: null,
  accent: null,
  supportUrl: null,
  termsUrl: null,
}

type BrandSettings = {
  BRAND_NAME: string
  BRAND_LOGO?: string
  BRAND_ACCENT?: string
  BRAND_SUPPORT_URL?: string
  BRAND_TERMS_URL?: string
}

/**
 * Reads the settings of the brand.
 * @param withLogo reads the file of its logo, for pages and mails
 */
export function readBrand(values: BrandSettings, withLogo: boolean, faults: string[]): Brand {
  const { BRAND_NAME: name, BRAND_SUPPORT_URL: support, BRAND_TERMS_URL: terms } = values
  return {
    name,
    logo: withLogo ? readLogo(values.BRAND_LOGO, faults) : null,
    accent: readAccent(values.BRAND_ACCENT, faults),
    supportUrl: readLink('BRAND_SUPPORT_URL', support, ['https:', 'mailto:'], faults),
    termsUrl: readLink('BRAND_TERMS_URL', terms, ['https:'], faults),
  }
}

const maxLogoBytes = 32_768 // beside the 60 KB that a page has at most with everything else it loads

function readLogo(path: string | undefined, faults: string[]): Logo | null {
  if (path === undefined) return null
  const bytes = readLogoFile(path)
  if (typeof bytes === 'string') {
    faults.push(`BRAND_LOGO: ${path} ${bytes}.`)
    return null
  }
  const type = typeOf(bytes)
  if (type !== null) return { type, bytes }
  faults.push(`BRAND_LOGO: ${path} is not an SVG, PNG or WebP image.`)
  return null
}

/** The bytes of the file, or why it cannot be used. */
function readLogoFile(path: string): Uint8Array | string {
  try {
    // The size first: a device such as /dev/zero has no end.
    const { size } = statSync(path)
    if (size > maxLogoBytes) return `has ${size} bytes; at most ${maxLogoBytes} are allowed`
    if (size === 0) return 'is empty or not a file'
    return readFileSync(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown'
    return `cannot be read (${code})`
  }
}

/** The media type by the first bytes, whatever the name of the file; null for any other. */
function typeOf(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 1_024))
  if (start.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))) return 'image/png'
  if (start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WEBP') {
    return 'image/webp'
  }
  return /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]/s.test(start.toString('utf8'))
    ? 'image/svg+xml'
    : null
}

function readAccent(value: string | undefined, faults: string[]): Accent | null {
  if (value === undefined) return null
  const [light = '', dark = '', ...more] = value.toLowerCase().split(',')
  const isColour = (text: string) => /^#[0-9a-f]{6}$/.test(text)
  if (!isColour(light) || !isColour(dark) || more.length > 0) {
    faults.push(
      'BRAND_ACCENT: must be two colours, for light and dark pages, for instance #1c5d4d,#74cbb2.',
    )
    return null
  }
  checkContrast(light, 'light', faults)
  checkContrast(dark, 'dark', faults)
  return {
    light: { colour: light, text: textOn(light) },
    dark: { colour: dark, text: textOn(dark) },
  }
}

function checkContrast(colour: string, scheme: keyof Accent, faults: string[]): void {
  const surfaces = scheme === 'light' ? lightSurfaces : darkSurfaces
  const { surface, name, contrast: found } = worstSurface(colour, surfaces)
  if (found >= minContrast) return
  // Rounded down, so that 4.496 is not called 4.50.
  const shown = (Math.floor(found * 100) / 100).toFixed(2)
  faults.push(
    `BRAND_ACCENT: ${colour} has a contrast of ${shown} on ${name} (${surface}) of ${scheme} pages, and ${minContrast.toFixed(2)} is needed. Use a ${scheme === 'light' ? 'darker' : 'lighter'} colour, for instance ${nearestReadable(colour, surfaces)}.`,
  )
}

/** White or nearly black, whichever is easier to read. */
function textOn(colour: string): string {
  const [white, black] = ['#ffffff', '#0f1614']
  return contrast(colour, white) >= contrast(colour, black) ? white : black
}

function readLink(
  name: string,
  value: string | undefined,
  protocols: readonly string[],
  faults: string[],
): string | null {
  if (value === undefined) return null
  const url = URL.parse(value)
  if (url !== null && protocols.includes(url.protocol)) return url.href
  faults.push(`${name}: must be a URL that starts with ${protocols.join(' or ')}.`)
  return null
}
