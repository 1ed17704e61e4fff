/**
 * A shape of the API as this page gets it: it asks for numbers, so what a schema declares as an integer in either form is
 * a number. The types are those that the server checks and describes its answers by; nothing is generated.
 */
export type Wire<T> = unknown extends T
  ? T
  : [string | number] extends [Exclude<T, undefined>]
    ? number | Extract<T, undefined>
    : T extends readonly (infer Item)[]
      ? Wire<Item>[]
      : T extends object
        ? { [Key in keyof T]: Wire<T[Key]> }
        : T

/** A page of a list; an empty one has no `data`. */
export interface Paged<Item> {
  data?: Item[] | undefined
  count: number
}
