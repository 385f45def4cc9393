/** True for a browser navigation, which accepts text/html explicitly; API clients do not. */
export function acceptsHtml(accept: string | undefined): boolean {
  return accept?.includes('text/html') ?? false
}

/** True for the content type of an HTML form, which is answered with a redirect to a page. */
export function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}
