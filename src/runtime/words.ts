/** `In progress` of `in-progress` or `in_progress`. */
export function inWords(text: string): string {
  return capital(text.replaceAll(/[-_]/g, ' '))
}

/** The text with its first letter in upper case. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
