import openapiTypescript from 'openapi-typescript'
import type { ApiDescription } from '#src/http/openapi/examples.ts'

const notice = '// Generated from the API description: npm run prepare.'

/** The generated files of the TypeScript client, by their path. */
export async function clientFiles(description: ApiDescription): Promise<Record<string, string>> {
  const types = await openapiTypescript(JSON.parse(JSON.stringify(description)), {
    commentHeader: `${notice}\n\n`,
  })
  return {
    'clients/typescript/src/generated/api.ts': types,
    'clients/typescript/src/generated/keyed-operations.ts': keyedOperations(description),
  }
}

/** The creating operations that take an `Idempotency-Key`; a change gets one only from the caller. */
function keyedOperations({ paths }: ApiDescription): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method === 'post')
      .filter(([, { parameters }]) => parameters?.some(({ name }) => name === 'idempotency-key'))
      .map(([method]) => `  '${method.toUpperCase()} ${path}',\n`),
  )
  return `${notice}

/** Method and path of the operations that get an \`Idempotency-Key\`. */
export const keyedOperations: ReadonlySet<string> = new Set([
${operations.join('')}])
`
}
