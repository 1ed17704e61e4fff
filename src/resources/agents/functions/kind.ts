import { verbatim } from '../../../api/json.ts'
import type { ChildKind } from '../children/kind.ts'
import { childStore } from '../children/store.ts'
import { AgentFunction, FunctionUpdate, mostFunctions, NewAgentFunction } from './schema.ts'
import type { FunctionDefinition } from '../../../agents/tools/functions/function.ts'

/** A new function, with defaults. */
export function toRow({ name, description, method, url, headers, parameters }: NewAgentFunction): FunctionDefinition {
  return { name, description, method: method ?? 'GET', url, headers: headers ?? null, parameters: parameters ?? null }
}

export const functionStore = childStore<FunctionDefinition>('agent_functions', [
  'name',
  'description',
  'method',
  'url',
  'headers',
  'parameters',
])

export const functionKind: ChildKind<FunctionDefinition, NewAgentFunction, FunctionUpdate> = {
  noun: { one: 'function', many: 'functions', article: 'a' },
  path: 'functions',
  most: mostFunctions,
  shapes: { new: NewAgentFunction, update: FunctionUpdate, shown: AgentFunction },
  toRow,
  change: (before, { description, method, url, parameters }) => ({
    ...before,
    description: description ?? before.description,
    method: method === undefined ? before.method : (method ?? 'GET'),
    url: url ?? before.url,
    parameters: parameters === undefined ? before.parameters : parameters,
  }),
  show: row => ({ ...row, headers: verbatim(row.headers), parameters: verbatim(row.parameters) }),
  store: functionStore,
}
