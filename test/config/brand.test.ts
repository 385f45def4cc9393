import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readBrand } from '#src/config/brand.ts'

const folder = t.testdir()
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>'

function read(settings: Record<string, string> = {}, withLogo = true) {
  const faults: string[] = []
  return { brand: readBrand({ BRAND_NAME: 'Acme', ...settings }, withLogo, faults), faults }
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

t.test('a brand of its own', async (t) => {
  const { brand, faults } = read({
    BRAND_LOGO: file('logo.svg', `<?xml version="1.0"?>\n<!-- A logo -->\n${svg}`),
    BRAND_ACCENT: '#1C5D4D,#74cbb2',
    BRAND_SUPPORT_URL: 'mailto:help@acme.example',
    BRAND_TERMS_URL: 'https://acme.example/terms',
  })
  t.same(faults, [])
  t.match(brand, {
    name: 'Acme',
    logo: { type: 'image/svg+xml' },
    accent: {
      light: { colour: '#1c5d4d', text: '#ffffff' },
      dark: { colour: '#74cbb2', text: '#0f1614' },
    },
    supportUrl: 'mailto:help@acme.example',
    termsUrl: 'https://acme.example/terms',
  })
})

t.test('the type of a logo follows from its bytes, not from its name', async (t) => {
  const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
  t.equal(read({ BRAND_LOGO: file('a.svg', png) }).brand.logo?.type, 'image/png')
  const webp = Buffer.from('RIFF\x04\0\0\0WEBPVP8 ', 'latin1')
  t.equal(read({ BRAND_LOGO: file('b.png', webp) }).brand.logo?.type, 'image/webp')
  for (const [name, content] of [
    ['c.svg', '<!doctype html><script>alert(1)</script>'],
    ['d.svg', '<p><svg></svg></p>'],
    ['e.png', 'GIF89a'],
  ] as const) {
    const { brand, faults } = read({ BRAND_LOGO: file(name, content) })
    t.equal(brand.logo, null)
    t.match(faults, [/^BRAND_LOGO: .* is not an SVG, PNG or WebP image\.$/], name)
  }
})

t.test('a logo that cannot be used is refused', async (t) => {
  const large = file('large.svg', svg.padEnd(32_769))
  t.match(read({ BRAND_LOGO: large }).faults, [/has 32769 bytes; at most 32768 are allowed/])
  t.same(read({ BRAND_LOGO: file('full.svg', svg.padEnd(32_768)) }).faults, [])
  t.match(read({ BRAND_LOGO: file('empty.svg', '') }).faults, [/is empty or not a file/])
  t.match(read({ BRAND_LOGO: '/dev/zero' }).faults, [/is empty or not a file/])
  t.match(read({ BRAND_LOGO: join(folder, 'none') }).faults, [/cannot be read \(ENOENT\)/])
  t.match(read({ BRAND_LOGO: folder }).faults, [/^BRAND_LOGO/], 'a folder')
})

t.test('an accent that is hard to read is refused with one that is not', async (t) => {
  const { faults } = read({ BRAND_ACCENT: '#74cbb2,#1c5d4d' })
  t.equal(faults.length, 2)
  t.match(
    faults[0],
    /^BRAND_ACCENT: #74cbb2 has a contrast of 1\.\d\d on a badge on a raised part \(#\w{6}\) of light pages, and 4\.50 is needed\. Use a darker colour, for instance #\w{6}\.$/,
  )
  t.match(faults[1], /^BRAND_ACCENT: #1c5d4d .* of dark pages, .* Use a lighter colour/)
  const remedies = faults.map((fault) => /instance (#\w{6})/.exec(fault)?.[1])
  t.same(read({ BRAND_ACCENT: remedies.join() }).faults, [], 'the colours it names are accepted')
})

t.test('anything but two colours is refused', async (t) => {
  for (const value of ['#1c5d4d', 'green,blue', '#1c5d4d,#74cbb2,#000000', '#fff,#000', '1;}*{']) {
    const { brand, faults } = read({ BRAND_ACCENT: value })
    t.match(faults, [/^BRAND_ACCENT: must be two colours/], value)
    t.equal(brand.accent, null)
  }
})

t.test('links lead to https, support also to an address', async (t) => {
  for (const url of ['javascript:alert(1)', 'http://acme.example', '/help', 'ftp://acme.example']) {
    t.match(read({ BRAND_SUPPORT_URL: url }).faults, [/^BRAND_SUPPORT_URL: must be a URL/], url)
  }
  t.match(read({ BRAND_TERMS_URL: 'mailto:a@b.example' }).faults, [/^BRAND_TERMS_URL/])
})
