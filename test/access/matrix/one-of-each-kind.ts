/**
 * For MATRIX_ACTORS: a caller of each kind, members of no and of another tenant, and one whom a condition on the row
 * refuses, where every actor takes too long. What the roles, times and limits of the others decide is decided in the
 * program.
 */
export const oneOfEachKind = [
  'admin, at night',
  'admin of another tenant',
  'anonymous',
  'viewer',
  'editor of another department',
  'removed member',
  'token of an admin, limited to what is needed',
  'operator',
  'service that may do everything',
  'app that may do everything',
].join('; ')
