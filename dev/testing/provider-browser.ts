/** Fetch with a cookie jar for one host; it ignores paths and expiry of cookies. */
export function newProviderBrowser() {
  const jar = new Map<string, string>()

  /** Follows redirects to a page or to the redirect back to the client. */
  async function follow(target: URL, form?: URLSearchParams): Promise<Response> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(target, {
      headers: { cookie },
      redirect: 'manual',
      ...(form && { method: 'POST', body: form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    const next = location === null ? undefined : new URL(location, target)
    return next?.origin === target.origin ? follow(next) : response
  }

  /** Selects that user and returns the callback URL. */
  async function signIn(request: URL, subject: string): Promise<URL> {
    const page = await follow(request)
    const answer = await follow(new URL(page.url), new URLSearchParams({ subject }))
    return new URL(answer.headers.get('location') ?? '', request)
  }

  return { follow, signIn }
}
