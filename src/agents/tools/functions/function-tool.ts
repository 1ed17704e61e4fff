import type { Egress } from '../../../egress/egress.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { ArgumentChecker } from '../arguments/checker.ts'
import { reasonOf, resultLimitBytes, toError } from '../result.ts'
import type { BoundTool, CallContext, ToolboxRequest, ToolResult } from '../tool.ts'
import { toAnswerResult } from './answer.ts'
import { noParameters, type FunctionDefinition } from './function.ts'
import { toHeaders } from './headers.ts'
import { BadArguments, toRequest, type FunctionRequest } from './request.ts'

/** The limit of the whole: resolving, connecting, sending, and the last byte of the answer. */
const callMs = 10_000

export interface FunctionParts {
  egress: Pick<Egress, 'send'>
  checker: ArgumentChecker
  version: string
  /** Signs the calls; null: they are not signed. */
  secret: Secret | null
  now: () => Date
}

/** A function of an agent, ready to be called in the runs of one asker in one app. */
export function toFunctionTool(definition: FunctionDefinition, of: ToolboxRequest, parts: FunctionParts): BoundTool {
  return {
    kind: 'function',
    isRepeatable: definition.method === 'GET',
    approval: null,
    call: (args, context) => call(definition, args, of, parts, context),
  }
}

async function call(
  definition: FunctionDefinition,
  args: Record<string, unknown>,
  of: ToolboxRequest,
  parts: FunctionParts,
  context: CallContext,
): Promise<ToolResult> {
  const { signal } = context
  const faults = await parts.checker.faultsOf(definition.parameters ?? noParameters, args)
  signal.throwIfAborted()
  if (faults !== null) return toError(faults)
  try {
    return await send(definition, toRequest(definition, args), of, parts, context)
  } catch (error) {
    signal.throwIfAborted()
    return toError(error instanceof BadArguments ? error.message : reasonOf(error))
  }
}

async function send(
  { method, headers }: FunctionDefinition,
  request: FunctionRequest,
  of: ToolboxRequest,
  { egress, version, secret, now }: FunctionParts,
  context: CallContext,
): Promise<ToolResult> {
  const answer = await egress.send({
    url: request.url,
    method,
    headers: toHeaders({ method, request, configured: headers ?? {}, of, call: context, version, secret, now: now() }),
    ...(request.body !== null && { body: request.body }),
    deadlineMs: callMs,
    keepBytes: resultLimitBytes,
    signal: context.signal,
  })
  return toAnswerResult(answer)
}
