/** Of the program; the same as in package.json, whose other lines do not belong in the binary. */
export const version = '0.1.0'
