/**
 * For MATRIX_ACTORS: a caller of each kind, and members of no and of another tenant, where every actor takes too
 * long. What the roles, times and limits of the others decide is decided in the program.
 */
export const oneOfEachKind = [
  'admin, at night',
  'admin of another tenant',
  'anonymous',
  'viewer',
  'removed member',
  'token of an admin, limited to what is needed',
  'operator',
  'service that may do everything',
  'app that may do everything',
].join('; ')
