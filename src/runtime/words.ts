/** `In progress` of `in-progress` or `in_progress`. */
export function inWords(text: string): string {
  return capital(text.replaceAll(/[-_]/g, ' '))
}

/** The text with its first letter in upper case. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** Whether a name is lower-case words with hyphens, such as `garden-shed`. */
export function isHyphenated(name: string): boolean {
  return /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)
}
