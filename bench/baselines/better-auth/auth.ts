import { PrismaPg } from '@prisma/adapter-pg'
import { betterAuth } from 'better-auth'
import { prismaAdapter } from 'better-auth/adapters/prisma'

// Generated when the benchmark runs, so its types are missing during the type check.
const generated = new URL('./generated/client.ts', import.meta.url).href
const { PrismaClient } = await import(generated)

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env

export const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) }),
})

/** Configured as documented; its rate limit applies to sign-in routes only. */
export const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: 'a better-auth secret that is long enough for a bench',
  database: prismaAdapter(prisma, { provider: 'postgresql' }),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
})

/**
 * Prisma's documented recipe for row-level security: each query runs in its own transaction after
 * `set_config` with the user's id.
 */
export function forUser(userId: string) {
  return prisma.$extends({
    query: {
      $allModels: {
        async $allOperations({ args, query }: { args: unknown; query(args: unknown): unknown }) {
          const [, result] = await prisma.$transaction([
            prisma.$executeRaw`SELECT set_config('app.current_user_id', ${userId}, TRUE)`,
            query(args),
          ])
          return result
        },
      },
    },
  })
}
