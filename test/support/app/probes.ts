import type { as } from '#dev/testing/people.ts'

/** Path ids, and the status that a caller with all permissions gets for each. */
export const edgeIds: readonly (readonly [string, number])[] = [
  ['0', 404],
  ['9007199254740991', 404],
  ['9007199254740992', 404],
  ['9223372036854775808', 404],
  ['99999999999999999999999999', 404],
  ['01', 400],
  ['-1', 400],
  ['+1', 400],
  ['1.0', 400],
  ['1e3', 400],
  ['0x1', 400],
  ['%201', 400],
  ['1%20', 400],
  ['1%00', 400],
  ['1%0A', 400],
  ['%D9%A1', 400], // ARABIC-INDIC DIGIT ONE
  ['%EF%BC%91', 400], // FULLWIDTH DIGIT ONE
  ['abc', 400],
  ['1%20or%201=1', 400],
]

const never = [
  ['id', '1'],
  ['userId', '1'],
  ['user_id', '1'],
  ['tenantId', '"00000000-0000-4000-8000-000000000000"'],
  ['tenant_id', '"00000000-0000-4000-8000-000000000000"'],
  ['authorId', '1'],
  ['author_id', '1'],
  ['role', '"admin"'],
  ['permissions', '["user:manage"]'],
  ['createdAt', '"2020-01-01T00:00:00Z"'],
  ['updatedAt', '"2020-01-01T00:00:00Z"'],
  ['acceptedAt', '"2020-01-01T00:00:00Z"'],
  ['emailVerified', 'true'],
  ['plan', '"pro"'],
  ['__proto__', '{"role":"admin"}'],
  ['constructor', '{"prototype":{"role":"admin"}}'],
  ['prototype', '{"role":"admin"}'],
  ['toString', '"x"'],
  ['', '1'],
] as const

/** Copies of the body with one unknown field each: name and JSON text. */
export function smuggling(body: object): [string, string][] {
  const fields = JSON.stringify(body).slice(1, -1)
  return never
    .filter(([name]) => !Object.hasOwn(body, name))
    .map(([name, value]) => [
      name,
      `{${fields}${fields === '' ? '' : ','}${JSON.stringify(name)}:${value}}`,
    ])
}

type Listed = { data: Record<string, unknown>[]; nextCursor: string | null }

/** Every page of a list, two rows each; `between` runs after each page. */
export async function pagesOf(
  send: ReturnType<typeof as>,
  url: string,
  between: () => Promise<unknown>,
): Promise<Listed[]> {
  const pages: Listed[] = []
  let cursor: string | null = null
  do {
    const after: string = cursor === null ? '' : `&cursor=${cursor}`
    const page: Listed = (await send('GET', `${url}?limit=2${after}`)).json()
    pages.push(page)
    await between()
    cursor = page.nextCursor
  } while (cursor !== null)
  return pages
}

/** Queries that every list rejects. */
export const badPageQueries = [
  'limit=0',
  'limit=101',
  'limit=01',
  'limit=1e1',
  'limit=-1',
  'limit=',
  'limit=1&limit=2',
  'cursor=x',
  'cursor=',
  'userId=1',
  'tenantId=00000000-0000-4000-8000-000000000000',
]
