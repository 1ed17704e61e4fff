/** An item of content as a list orders it. Times in milliseconds; of those never edited, `updatedAt` is when they were made. */
export interface ListedItem {
  id: number
  isTrashed: boolean
  createdAt: number
  updatedAt: number
}

export interface AskedPage {
  order: string
  isDescending: boolean
  /** What has the same time stands the other way round by id. */
  isCrossed?: boolean
  trashed: string
  skip: number
  take: number
  /** A place among what is listed that the page is to be around. */
  around: number | undefined
  after: number | undefined
  before: number | undefined
}

/** The query for a page, and what must be on it, found by hand in all that the caller may see. */
export function expectedPage(seen: readonly ListedItem[], asked: AskedPage) {
  const { order, isDescending, isCrossed = false, trashed, skip, take, around, after, before } = asked
  const timeOf = (item: ListedItem) => (order === 'updated_at' ? item.updatedAt : order === 'id' ? 0 : item.createdAt)
  const shown = seen
    .filter(({ isTrashed }) => trashed === 'null' || isTrashed === (trashed === 'true'))
    .filter(({ id }) => (after === undefined || id > after) && (before === undefined || id < before))
    .toSorted((a, b) => timeOf(a) - timeOf(b) || (isCrossed && order !== 'id' ? b.id - a.id : a.id - b.id))
    .map(({ id }) => id)
  if (isDescending) shown.reverse()
  const middle = around === undefined || shown.length === 0 ? undefined : shown[around % shown.length]!
  const start =
    middle === undefined
      ? skip
      : Math.max(0, Math.min(shown.indexOf(middle) - Math.floor(take / 2), shown.length - take))
  const query = new URLSearchParams({
    order_by: `${order}${isDescending ? ' desc' : ''}${isCrossed ? `,id${isDescending ? '' : ' desc'}` : ''}`,
    trashed,
    skip: String(skip),
    take: String(take),
    ...(middle !== undefined && { around: String(middle) }),
    ...(after !== undefined && { after: String(after) }),
    ...(before !== undefined && { before: String(before) }),
  })
  return { query, ids: shown.slice(start, start + take), start, count: shown.length }
}
