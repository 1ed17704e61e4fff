import type { ChildKind } from '../children/kind.ts'
import { childStore } from '../children/store.ts'
import { showFunction } from '../represent.ts'
import { AgentFunction, AgentFunctions, FunctionUpdate, mostFunctions, NewAgentFunction } from './schema.ts'
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
  table: 'agent_functions',
  most: mostFunctions,
  shapes: { new: NewAgentFunction, update: FunctionUpdate, shown: AgentFunction, list: AgentFunctions },
  toRow,
  change: (before, { description, method, url, parameters }) => ({
    ...before,
    description: description ?? before.description,
    method: method === undefined ? before.method : (method ?? 'GET'),
    url: url ?? before.url,
    parameters: parameters === undefined ? before.parameters : parameters,
  }),
  show: showFunction,
  store: functionStore,
}
