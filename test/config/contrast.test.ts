import { readFile } from 'node:fs/promises'
import t from 'tap'
import {
  contrast,
  darkSurfaces,
  lightSurfaces,
  minContrast,
  nearestReadable,
  worstSurface,
} from '#src/config/contrast.ts'

t.test('contrast as WCAG defines it', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21)
  t.equal(contrast('#ffffff', '#ffffff'), 1)
  t.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54')
})

t.test(
  'the surfaces are those of the style sheet, on which its own accent is readable',
  async (t) => {
    const style = await readFile(
      new URL('../../src/pages/kit/gatehouse.css', import.meta.url),
      'utf8',
    )
    const token = (name: string) => {
      const [, light = '', dark = ''] =
        new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(style) ?? []
      return [light, dark]
    }
    t.strictSame(
      ['paper', 'card', 'raised'].map(token),
      lightSurfaces.map((light, at) => [light, darkSurfaces[at]]),
    )
    const [light = '', dark = ''] = token('accent')
    t.ok(worstSurface(light, lightSurfaces).contrast >= minContrast, 'light')
    t.ok(worstSurface(dark, darkSurfaces).contrast >= minContrast, 'dark')
  },
)

t.test('a colour that is hard to read moves until it is not', async (t) => {
  for (const surfaces of [lightSurfaces, darkSurfaces]) {
    for (const colour of ['#ffd500', '#888888', '#000000', '#ffffff', '#1133ff']) {
      const readable = nearestReadable(colour, surfaces)
      t.ok(worstSurface(readable, surfaces).contrast >= minContrast, `${colour}: ${readable}`)
    }
  }
  t.equal(nearestReadable('#1c5d4d', lightSurfaces), '#1c5d4d', 'a readable one stays')
})
