import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { tagOf } from '#src/http/headers/etag.ts'

/** Content codings in the order of preference. */
export const encodings = ['br', 'gzip'] as const
export type Encoding = (typeof encodings)[number]

type Effort = { readonly br: number; readonly gzip: number }

const forKept: Effort = { br: 5, gzip: 6 }
/** For what is sent once: less than half of the processor time of `forKept`, for an eighth more bytes. */
export const forOneResponse: Effort = { br: 3, gzip: 1 }

/** Compresses outside the event loop's thread. */
export function compress(
  encoding: Encoding,
  data: Buffer | string,
  effort: Effort,
): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(data, { level: effort.gzip })
  const params = { [constants.BROTLI_PARAM_QUALITY]: effort.br }
  return promisify(brotliCompress)(data, { params })
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
          : this.variant(null).then(({ body }) => compress(encoding, body, forKept))
        ).then((body) => ({ body, etag: tagOf(body) }))
      variants.set(encoding, made)
      return made
    },
  }
}
