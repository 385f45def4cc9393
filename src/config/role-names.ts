/** The roles of a member, each with more rights than the one before. */
export const roles = ['viewer', 'editor', 'admin'] as const

export type Role = (typeof roles)[number]
