/** The version of what is kept: what an earlier one kept is dropped. */
const version = 1

/** A table of values by key, in IndexedDB. */
export class Table<Value> {
  readonly #database: IDBDatabase
  readonly #name: string

  constructor(database: IDBDatabase, name: string) {
    this.#database = database
    this.#name = name
  }

  async all(): Promise<Value[]> {
    return done(this.#store('readonly').getAll() as IDBRequest<Value[]>)
  }

  async put(key: string, value: Value): Promise<void> {
    await done(this.#store('readwrite').put(value, key))
  }

  async delete(key: string): Promise<void> {
    await done(this.#store('readwrite').delete(key))
  }

  async get(key: string): Promise<Value | undefined> {
    return done(this.#store('readonly').get(key) as IDBRequest<Value | undefined>)
  }

  #store(mode: IDBTransactionMode): IDBObjectStore {
    return this.#database.transaction(this.#name, mode).objectStore(this.#name)
  }
}

export async function openDatabase(name: string, tables: readonly string[]): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version)
  request.addEventListener('upgradeneeded', () => {
    const { result } = request
    for (const table of Array.from(result.objectStoreNames)) result.deleteObjectStore(table)
    for (const table of tables) result.createObjectStore(table)
  })
  return done(request)
}

function done<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')))
  })
}
