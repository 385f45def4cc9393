import { sha256 } from '#src/crypto/hash.ts'
import { readTextAssetSync } from '#src/runtime/assets.ts'
import { onFirstUse } from '#src/runtime/lazy.ts'

/** The media types of the files that pages load. */
export const assetTypes = {
  'gatehouse.css': 'text/css; charset=utf-8',
  'gatehouse.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const

export type AssetName = keyof typeof assetTypes

const versions = onFirstUse(() => ({
  'gatehouse.css': versionOf('gatehouse.css'),
  'gatehouse.js': versionOf('gatehouse.js'),
  'icon.svg': versionOf('icon.svg'),
}))

/** The text of an asset. */
export function readPageAsset(name: AssetName): string {
  return readTextAssetSync(`src/pages/${name}`)
}

/** The first characters of the hash of an asset: the version in its path. */
export function assetVersion(name: AssetName): string {
  return versions()[name]
}

/** The path with which pages load an asset. Its version changes with its bytes. */
export function assetPath(name: AssetName): string {
  return `/assets/${name}?v=${assetVersion(name)}`
}

function versionOf(name: AssetName): string {
  return sha256(readPageAsset(name)).toString('hex').slice(0, 12)
}
