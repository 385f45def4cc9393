import type { Accent, Brand } from '#src/config/brand.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { readTextAssetSync } from '#src/runtime/assets.ts'
import { onFirstUse } from '#src/runtime/lazy.ts'

const script = 'text/javascript; charset=utf-8'

/** The files that pages load: their folder and media type. */
export const pageAssets = {
  'gatehouse.css': { folder: 'kit', type: 'text/css; charset=utf-8' },
  'gatehouse.js': { folder: 'kit', type: script },
  'try-it.js': { folder: 'docs', type: script },
  'icon.svg': { folder: 'kit', type: 'image/svg+xml' },
} as const

export type AssetName = keyof typeof pageAssets
export const assetNames: readonly AssetName[] = [
  'gatehouse.css',
  'gatehouse.js',
  'try-it.js',
  'icon.svg',
]

const versions = onFirstUse(
  () => new Map(assetNames.map((name) => [name, hashOf(readPageAsset(name))])),
)

/** The text of an asset. */
export function readPageAsset(name: AssetName): string {
  return readTextAssetSync(`src/pages/${pageAssets[name].folder}/${name}`)
}

/** The first characters of the hash of an asset: the version in its path. */
export function assetVersion(name: AssetName): string {
  return versions().get(name) ?? ''
}

/** The path with which pages load an asset. Its version changes with its bytes. */
export function assetPath(name: AssetName): string {
  return `/assets/${name}?v=${assetVersion(name)}`
}

/** The paths of the logo and the style sheet of a brand; null for what it does not have. */
export function brandPaths({ logo, accent }: Brand): { logo: string | null; style: string | null } {
  return {
    logo: logo && `/assets/logo?v=${hashOf(logo.bytes)}`,
    style: accent && `/assets/brand.css?v=${hashOf(brandStyle(accent))}`,
  }
}

/** The style sheet that replaces the built-in accent colour. */
export function brandStyle({ light, dark }: Accent): string {
  return `:root {
  --accent: light-dark(${light.colour}, ${dark.colour});
  --on-accent: light-dark(${light.text}, ${dark.text});
}
`
}

/** The first characters of the SHA-256: the version in a path. */
export function hashOf(content: string | Uint8Array): string {
  return sha256(content).toString('hex').slice(0, 12)
}
