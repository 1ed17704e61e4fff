import type { Item } from './recent.ts'
import { hasJoined, type AppRow, type AppState, type MemberRow, type State } from './state.ts'

/**
 * A state that has not been committed: what a flush decides goes here first, so that the next command of the flush
 * sees it and no other reader does. `adopt` takes it over after the commit; a failed commit just forgets it.
 */
export class Draft implements State {
  app: AppRow
  readonly base: AppState
  /** User → the row as it is to be; null where it goes. */
  readonly changed = new Map<number, MemberRow | null>()
  /** Items do not take part in decisions; what happens to them waits for the commit. */
  readonly #items: ((base: AppState) => void)[] = []

  constructor(base: AppState) {
    this.base = base
    this.app = base.app
  }

  member(user: number): MemberRow | undefined {
    const row = this.changed.get(user)
    return row === undefined ? this.base.member(user) : (row ?? undefined)
  }

  *members(): Iterable<MemberRow> {
    for (const before of this.base.members()) {
      const row = this.changed.get(before.user_id)
      if (row === undefined) yield before
      else if (row !== null && !hasJoined(row, before)) yield row
    }
    yield* this.#joined()
  }

  putMember(row: MemberRow): void {
    this.changed.set(row.user_id, row)
  }

  dropMember(user: number): void {
    this.changed.set(user, null)
  }

  putItem(item: Item): void {
    this.#items.push(base => base.putItem(item))
  }

  changeItem(id: number, change: (item: Item) => Item): void {
    this.#items.push(base => base.changeItem(id, change))
  }

  dropItem(id: number): void {
    this.#items.push(base => base.dropItem(id))
  }

  adopt(): void {
    this.base.app = this.app
    for (const [user, row] of this.changed) {
      if (row === null) this.base.dropMember(user)
      else if (!hasJoined(row, this.base.member(user))) this.base.putMember(row)
    }
    for (const row of this.#joined()) this.base.putMember(row)
    for (const change of this.#items) change(this.base)
  }

  /** The members who are new in this draft, in joining order. */
  #joined(): MemberRow[] {
    const joined: MemberRow[] = []
    for (const [user, row] of this.changed) if (row !== null && hasJoined(row, this.base.member(user))) joined.push(row)
    return joined.sort((a, b) => (a.joined_rev ?? Number.MAX_SAFE_INTEGER) - (b.joined_rev ?? Number.MAX_SAFE_INTEGER))
  }
}
