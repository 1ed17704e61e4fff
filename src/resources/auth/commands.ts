import type { JSONWebKeySet } from 'jose'
import { globalCommand, type GlobalWork } from '../../engine/global/command.ts'
import { updateHostKeys } from './store.ts'

/** Keeps the key set that the host has answered with. Where it is another one, all nodes take it over. */
export const keepHostKeys = globalCommand(
  'keepHostKeys',
  async (work: GlobalWork, { url, keys }: { url: string; keys: JSONWebKeySet }) => {
    if (await updateHostKeys(work.sql, url, keys)) work.changed('host_keys_changed', 'host_keys', 0)
  },
)
