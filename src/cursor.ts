/*
 * Opaque page cursors: the key of the last row shown, so that a page is found by index however far
 * it is, and rows that come in between shift nothing.
 */

const maxLength = 2_048

/** The key of a row as something to hand back, meaningless to the caller. */
export function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/**
 * The key that was encoded.
 * @param shapes one for each part of the key
 * @returns null for anything that encodeCursor cannot have made for a key of these shapes
 */
export function decodeCursor(cursor: string, shapes: readonly RegExp[]): string[] | null {
  if (cursor.length > maxLength || !/^[A-Za-z0-9_-]+$/.test(cursor)) return null
  const key = parseStrings(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (key === null || key.length !== shapes.length) return null
  return key.every((part, index) => shapes[index]?.test(part)) ? key : null
}

function parseStrings(text: string): string[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : null
  } catch {
    return null
  }
}
