import { type Preset, presets, settingsOfPreset } from './presets.ts'

const introduction = `# Sign-in with the provider that you have

A provider with one of these names needs its client id and secret only; \`OIDC_<NAME>_PRESET\` gives the
preset to a provider with another name. Each line below “sets” is the default of a setting: your own setting replaces it, and a provider that is not listed here
can have all of them (settings.md). \`gatehouse providers check\` says what to register and what is wrong.

A provider that gets another issuer (a host name of its own, another tenant) is another provider: people who
are known from the issuer before are refused (\`issuer-changed\`). Give it another name in \`OIDC_PROVIDERS\`,
with \`OIDC_<NAME>_TRUST_EMAIL\`: then the next sign-in links everyone by their verified address, except
operators, whose identities \`OPERATORS\` has to name again.
`

/** docs/sign-in-providers.md: what to do at each provider. */
export function presetsDocument(): string {
  const rows = presets.map(
    ({ name, label, kind }) =>
      `| [${label}](#${name}) | \`${name}\` | ${kind === 'oidc' ? 'OpenID Connect' : 'OAuth 2.0'} |`,
  )
  const table = `| Provider | Preset | Kind |\n|---|---|---|\n${rows.join('\n')}\n`
  return `${[introduction, table, ...presets.map(section)].join('\n')}`
}

function section(preset: Preset): string {
  const { name, label, source, fields, quirks, notes } = preset
  const prefix = `OIDC_${name.toUpperCase()}_`
  const origin = { '{origin}': 'https://app.example.com', '{name}': name }
  const filled = fields.map(([field, value]) => {
    const text = Object.entries(origin).reduce(
      (all, [mark, one]) => all.replaceAll(mark, one),
      value,
    )
    return `| ${field} | ${text} |`
  })
  const sets = quirks.map(
    ({ setting, value, reason }) => `| \`${prefix}${setting}\` | \`${value}\` | ${reason} |`,
  )
  return `## ${name}

${label}. At the provider (${preset.console}), with the address of your installation:

| Field | Value |
|---|---|
${filled.join('\n')}

\`\`\`sh
${settingsToGive(preset)
  .map(([setting, example]) => `${setting}=${example}`)
  .join('\n')}
\`\`\`
${sets.length === 0 ? '' : `\nThe preset sets:\n\n| Setting | Value | Reason |\n|---|---|---|\n${sets.join('\n')}\n`}
${requirable(preset)}${notes.map((note) => `- ${note}`).join('\n')}
- Their documentation: <${source}>
`
}

function requirable({ name, requirable: claims, requirableOfTenants }: Preset): string {
  if (claims === null) return ''
  const names = (some: readonly string[]) => some.map((claim) => `\`${claim}\``).join(', ')
  const more =
    requirableOfTenants === undefined
      ? ''
      : `; with one tenant or TENANTS also ${names(requirableOfTenants)}`
  return `- \`OIDC_${name.toUpperCase()}_REQUIRE\` can name ${names(claims)}${more}.\n`
}

/** What an operator has to set, with an example of each value. */
function settingsToGive(preset: Preset): [setting: string, example: string][] {
  const prefix = `OIDC_${preset.name.toUpperCase()}_`
  const own = settingsOfPreset(preset)
  const secret: [string, string][] =
    own.CLIENT_AUTH === 'signed_secret'
      ? [
          [`${prefix}TEAM_ID`, 'TEAM123456'],
          [`${prefix}KEY_ID`, 'KEY1234567'],
          [`${prefix}PRIVATE_KEY`, '/run/secrets/AuthKey_KEY1234567.p8'],
        ]
      : [[`${prefix}CLIENT_SECRET`, '…']]
  return [
    ['OIDC_PROVIDERS', preset.name],
    ...(own.ISSUER === undefined
      ? [[`${prefix}ISSUER`, preset.issuer?.example ?? ''] as [string, string]]
      : []),
    [`${prefix}CLIENT_ID`, '…'],
    ...secret,
  ]
}
