import type { AppEvent, Commit, MemberChange } from './event.ts'
import type { Item } from './recent.ts'
import { hasJoined, type AppRow, type AppState, type MemberRow, type State } from './state.ts'

const none: Commit['members'] = new Map()

/**
 * The state of an app with changes that are not committed. The commands of a flush change the draft, so that each sees
 * the effect of the commands before it and no other reader does. `adopt` applies the changes to the committed state;
 * when the commit fails, the draft is dropped.
 */
export class Draft implements State {
  app: AppRow
  readonly base: AppState
  /** True where the changes depend on the app's newest event, so that they may not be committed after a newer one. */
  needsHead = false
  /** User → the new row; null where the row is removed. */
  readonly changed = new Map<number, MemberRow | null>()
  /** Changes of items, to be applied after the commit: no command decides on items in memory. */
  readonly #items: ((base: AppState) => void)[] = []
  readonly #newestAt: Date

  /** `newestAt`: the time of the app's newest event, where that is not in `base`. */
  constructor(base: AppState, newestAt: Date = base.app.head_at) {
    this.base = base
    this.app = base.app
    this.#newestAt = newestAt
  }

  /** The time of the newest event: nothing that is made now is older. */
  get headAt(): Date {
    const { head_at } = this.app
    return head_at < this.#newestAt ? this.#newestAt : head_at
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

  /** Applies the changes, which these events have made, to the committed state. Called once, after the commit. */
  adopt(events: readonly AppEvent[]): Commit {
    const commit = { before: this.base.app, after: this.app, events, members: this.#memberChanges() }
    this.base.app = this.app
    for (const [user, row] of this.changed) {
      if (row === null) this.base.dropMember(user)
      else if (!hasJoined(row, this.base.member(user))) this.base.putMember(row)
    }
    for (const row of this.#joined()) this.base.putMember(row)
    for (const change of this.#items) change(this.base)
    return commit
  }

  #memberChanges(): Commit['members'] {
    if (this.changed.size === 0) return none
    const changes = new Map<number, MemberChange>()
    for (const [user, row] of this.changed) {
      changes.set(user, { before: this.base.member(user), after: row ?? undefined })
    }
    return changes
  }

  /** The members who have joined in this draft, in the order in which they joined. */
  #joined(): MemberRow[] {
    const joined: MemberRow[] = []
    for (const [user, row] of this.changed) if (row !== null && hasJoined(row, this.base.member(user))) joined.push(row)
    return joined.sort((a, b) => (a.joined_rev ?? Number.MAX_SAFE_INTEGER) - (b.joined_rev ?? Number.MAX_SAFE_INTEGER))
  }
}
