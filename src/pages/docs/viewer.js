// Samples are shown for curl, JavaScript and Python; "Test Request" sends the session of this browser.
const otherTargets =
  'c clojure csharp dart fsharp go http java kotlin node objc ocaml php powershell r ruby rust swift'
const hiddenClients = Object.fromEntries(otherTargets.split(' ').map((name) => [name, true]))

globalThis.Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  hiddenClients: {
    ...hiddenClients,
    shell: ['httpie', 'wget'],
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
  },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'session' },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
})
