/**
 * The version of the API: the day of its last change that could break a client. What is added (fields,
 * operations, types of events, error codes) does not change it.
 */
export const apiVersion = '2026-11-26'
