/** Contrast of text that everyone can read: WCAG 2.2, success criterion 1.4.3. */
export const minContrast = 4.5

/**
 * The colours behind text in the accent colour: paper, card and raised of
 * src/pages/kit/gatehouse.css (test/config/contrast.test.ts compares).
 */
export const lightSurfaces = ['#f6f7f6', '#ffffff', '#f0f2f1'] as const
export const darkSurfaces = ['#101314', '#181c1e', '#20262a'] as const
/** Their names, in the same order. */
const surfaceNames = ['the page', 'a card', 'a raised part'] as const

// Badges and avatars have the accent colour itself behind them, in this share.
const tint = 0.16

type Rgb = readonly [number, number, number]

/** The contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(toRgb(one)), luminance(toRgb(other))].sort(
    (a, b) => a - b,
  )
  return (light + 0.05) / (dark + 0.05)
}

/** The surface, tinted ones included, on which a text in this colour has the lowest contrast. */
export function worstSurface(
  colour: string,
  surfaces: readonly string[],
): { surface: string; name: string; contrast: number } {
  const behind = surfaces.flatMap((surface, at) => {
    const name = surfaceNames[at] ?? surface
    return [
      { surface, name },
      { surface: mix(colour, surface, tint), name: `a badge on ${name}` },
    ]
  })
  const found = behind.map((one) => ({ ...one, contrast: contrast(colour, one.surface) }))
  return found.reduce((worst, one) => (one.contrast < worst.contrast ? one : worst))
}

/** The colour itself, or moved towards black or white until it can be read on the surfaces. */
export function nearestReadable(colour: string, surfaces: readonly string[]): string {
  const isDark = luminance(toRgb(surfaces[0] ?? '#ffffff')) < 0.5
  const end = isDark ? '#ffffff' : '#000000'
  const steps = Array.from({ length: 21 }, (_, n) => mix(end, colour, n / 20))
  return steps.find((one) => worstSurface(one, surfaces).contrast >= minContrast) ?? end
}

/** `share` of the first colour, the rest of the second, as CSS mixes them in sRGB. */
function mix(one: string, other: string, share: number): string {
  const [from, to] = [toRgb(one), toRgb(other)]
  const parts = from.map((value, at) => Math.round(value * share + (to[at] ?? 0) * (1 - share)))
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function toRgb(colour: string): Rgb {
  const part = (at: number) => Number.parseInt(colour.slice(at, at + 2), 16)
  return [part(1), part(3), part(5)]
}

function luminance(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
