import { readFileSync } from 'node:fs'

/**
 * The text of a file that a person has written, as editors save it: UTF-8 or UTF-16, with or without a byte order
 * mark. UTF-16 needs the mark.
 * @throws Error with a `code` of the system if it cannot be read, or without one if it is in another encoding
 */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path)
  const encoding = encodingOf(bytes)
  try {
    // The decoder leaves the mark out.
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // It is not what its first bytes say.
  }
  throw new Error('it is no text in UTF-8. Save it as UTF-8')
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
