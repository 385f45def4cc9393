import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { tagOf } from '#src/http/headers/etag.ts'

/** Content codings in the order of preference. */
export const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

const brotliQuality = 5 // about as fast as gzip, and smaller
const compressors: Readonly<Record<Encoding, (data: Buffer | string) => Promise<Buffer>>> = {
  br: (data) =>
    promisify(brotliCompress)(data, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
    }),
  gzip: promisify(gzip),
}

/** Compresses outside the event loop's thread. */
export function compress(encoding: Encoding, data: Buffer | string): Promise<Buffer> {
  return compressors[encoding](data)
}

type Variant = { body: Buffer; etag: string }

/**
 * A document that is the same for everyone. Each encoding is made at its first request and kept; it has
 * its own bytes and so its own tag.
 */
export type PublicDocument = {
  type: string
  /** @param encoding null for the document as it is */
  variant(encoding: Encoding | null): Promise<Variant>
}

type Content = string | Uint8Array

/** @param read called at the first request */
export function publicDocument(
  type: string,
  read: () => Content | Promise<Content>,
): PublicDocument {
  const variants = new Map<Encoding | null, Promise<Variant>>()
  const plain = async () => {
    const content = await read()
    return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content)
  }
  return {
    type,
    variant(encoding) {
      const made =
        variants.get(encoding) ??
        (encoding === null
          ? plain()
          : this.variant(null).then(({ body }) => compress(encoding, body))
        ).then((body) => ({ body, etag: tagOf(body) }))
      variants.set(encoding, made)
      return made
    },
  }
}
