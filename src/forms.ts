/** Whether a body of this content type is a browser's form, which wants a page to go to next. */
export function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}
