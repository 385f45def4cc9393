const maxTagLength = 35 // RFC 5646, 4.4.1

/**
 * A language tag in its canonical form (RFC 5646), for instance `de-AT`. Providers also write `de_AT`.
 * @returns null for anything else
 */
export function readLanguageTag(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxTagLength) return null
  try {
    const [tag = ''] = Intl.getCanonicalLocales(value.replaceAll('_', '-'))
    return tag.length === 0 || tag.length > maxTagLength ? null : tag
  } catch {
    return null // no language tag
  }
}

/** The language that a browser's user prefers (RFC 9110, 12.5.4); null if it names none. */
export function preferredLanguage(acceptLanguage: string | undefined): string | null {
  const ranges = (acceptLanguage ?? '').split(',', maxRanges).map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const quality = parameters.find((one) => /^q=/i.test(one))?.slice(2) ?? '1'
    return { tag: readLanguageTag(tag), quality: Number(quality) }
  })
  const wanted = ranges.filter(({ tag, quality }) => tag !== null && quality > 0)
  return wanted.toSorted((one, other) => other.quality - one.quality)[0]?.tag ?? null
}

const maxRanges = 20 // browsers send a handful
