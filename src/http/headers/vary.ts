/** Adds a request header to the value of `Vary` (RFC 9110, 12.5.5). */
export function withVary(present: unknown, name: string): string {
  const names = typeof present === 'string' ? present.split(', ') : []
  return names.includes(name) ? names.join(', ') : [...names, name].join(', ')
}
