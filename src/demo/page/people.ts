/** The people of the workspace, by uid. */
export const people = {
  ada: 'Ada Park',
  ben: 'Ben Ruiz',
  cleo: 'Cleo Tran',
  dana: 'Dana Okafor',
  emil: 'Emil Novak',
  fay: 'Fay Lindqvist',
} as const

export type Person = keyof typeof people
