import { z } from 'zod'
import { MetadataInput, WebAddressInput } from '../../../api/shape.ts'
import { methods } from '../../../agents/tools/functions/function.ts'
import { searchToolName } from '../../../agents/tools/tool.ts'
import { Headers, HeadersInput, ToolName } from '../children/address.ts'

/** The most functions of one agent. */
export const mostFunctions = 64

const MethodInput = z
  .string()
  .transform(text => text.toUpperCase())
  .pipe(z.enum(methods))
  .describe('Default: GET')

const ParametersInput = MetadataInput.refine(
  ({ type }) => type === undefined || type === 'object',
  'must be a JSON Schema of type object',
).describe('A JSON Schema of type object')

export const NewAgentFunction = z.object({
  name: ToolName.refine(name => name !== searchToolName, 'is reserved'),
  description: z.string().trim().min(1, 'must not be empty').max(4096),
  url: WebAddressInput.describe('`{name}` segments are filled from the arguments'),
  method: MethodInput.nullish(),
  headers: HeadersInput.nullish(),
  parameters: ParametersInput.nullish(),
})
export type NewAgentFunction = z.output<typeof NewAgentFunction>

export const FunctionUpdate = NewAgentFunction.partial()
export type FunctionUpdate = z.output<typeof FunctionUpdate>

export const AgentFunction = z
  .object({
    name: z.string(),
    description: z.string(),
    method: z.enum(methods),
    url: z.string(),
    headers: Headers.optional(),
    parameters: z.looseObject({}).optional(),
  })
  .meta({ id: 'AgentFunction' })
