import { usePlace } from '../place.tsx'
import { texts } from '../texts.ts'
import { sayCount } from './amount.ts'
import { Icon } from './icon.tsx'

/** Rows of a page, as the API's own. */
export const pageSize = 25

/** Where the page stands in its list, and the way to its neighbours. */
export function Pager({ count, shown }: { count: number; shown: number }) {
  const { query, filter } = usePlace()
  const skip = Number(query.get('skip')) || 0
  if (skip === 0 && count <= pageSize) return null
  const to = (target: number) => filter({ skip: target <= 0 ? undefined : String(target) })
  return (
    <nav class="pager" aria-label={texts.list.pages}>
      <span class="muted small">
        {shown === 0 ? texts.list.none : texts.list.range(sayCount(skip + 1), sayCount(skip + shown), sayCount(count))}
      </span>
      <button class="button small" disabled={skip === 0} onClick={() => to(skip - pageSize)}>
        <Icon name="back" />
        {texts.list.previous}
      </button>
      <button class="button small" disabled={skip + shown >= count} onClick={() => to(skip + pageSize)}>
        {texts.list.next}
        <Icon name="next" />
      </button>
    </nav>
  )
}
