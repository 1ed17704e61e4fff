import type { Egress } from '../../../egress/egress.ts'
import { standardHeaders } from '../../../egress/standard-webhooks.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { ArgumentChecker } from '../arguments/checker.ts'
import { reasonOf, toError } from '../result.ts'
import type { BoundTool, CallContext, ToolboxRequest } from '../tool.ts'
import { toAnswerResult } from './answer.ts'
import type { FunctionDefinition } from './function.ts'
import { BadArguments, toRequest, type FunctionRequest } from './request.ts'

/** The limit of the whole: resolving, connecting, sending, and the last byte of the answer. */
const callMs = 10_000

/** The parameters of a function that has none. */
const noParameters = { type: 'object', properties: {} }

/** Set by the HTTP client; other values would make requests that servers take for attacks. */
const ofClient = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export interface FunctionParts {
  egress: Pick<Egress, 'open'>
  checker: ArgumentChecker
  version: string
  /** Signs the calls; null: they are not signed. */
  secret: Secret | null
  now: () => Date
}

/** A function of an agent, ready to be called in the runs of one asker in one app. */
export function toFunctionTool(definition: FunctionDefinition, of: ToolboxRequest, parts: FunctionParts): BoundTool {
  const { name, description, method } = definition
  const parameters = definition.parameters ?? noParameters
  return {
    kind: 'function',
    name,
    description,
    parameters,
    isRepeatable: method === 'GET',
    approval: null,
    async call(args, context) {
      const { signal } = context
      const faults = await parts.checker.faultsOf(parameters, args)
      signal.throwIfAborted()
      if (faults !== null) return toError(faults)
      try {
        const request = toRequest(definition, args)
        const headers = toHeaders(request, context, { definition, of, parts })
        const limits = { deadlineMs: callMs, idleMs: callMs, limitBytes: Number.POSITIVE_INFINITY, signal }
        return await toAnswerResult(await parts.egress.open({ ...request, method, headers, ...limits }))
      } catch (error) {
        signal.throwIfAborted()
        return toError(error instanceof BadArguments ? error.message : reasonOf(error))
      }
    },
  }
}

/** The headers of a call: the owner's, and the server's own, which cannot be overridden. */
function toHeaders(
  { url, body }: FunctionRequest,
  { run, step }: CallContext,
  { definition, of, parts }: { definition: FunctionDefinition; of: ToolboxRequest; parts: FunctionParts },
): Record<string, string> {
  const { version, secret, now } = parts
  const id = `${run}-${step}`
  const { pathname, search } = new URL(url)
  // Without a body, method and path are signed instead.
  const signed = { id, at: now(), body: body ?? `${definition.method} ${pathname}${search}` }
  const own: Record<string, string> = {
    'user-agent': `ServiceBot/${version}`,
    accept: 'application/json, text/*;q=0.9, */*;q=0.1',
    ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
    'x-service-agent': toVisible(of.agent),
    'x-service-user': toVisible(of.asker),
    ...(of.app !== null && { 'x-service-app': toVisible(of.app) }),
    'x-service-run': run,
    'idempotency-key': id,
    ...(secret !== null && standardHeaders(signed, [secret.reveal()])),
  }
  const others = Object.entries(definition.headers ?? {}).filter(([name]) => {
    const lower = name.toLowerCase()
    return !(lower in own) && !ofClient.has(lower) && !/^(?:x-service-|webhook-)/.test(lower)
  })
  return { ...Object.fromEntries(others), ...own }
}

/** Header values hold printable ASCII: other characters of a uid are percent-encoded as UTF-8. */
function toVisible({ id, uid }: { id: number; uid: string | null }): string {
  return (uid ?? String(id)).toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
}
