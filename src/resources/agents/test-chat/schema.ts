import { z } from 'zod'
import { ReferenceInput } from '../../../api/reference.ts'
import { Int } from '../../../api/shape.ts'
import { isBlank } from '../../../lib/name.ts'

/** The limit of an item's text. */
const TextInput = z
  .string()
  .trim()
  .max(65_536)
  .refine(text => !isBlank(text), 'must not be empty')

/** The most earlier items that a run gets. */
const mostHistory = 20

export const AgentTestInput = z.object({
  text: TextInput.describe('The question'),
  user: ReferenceInput.nullish().describe('Id or uid of the user who is said to ask; default: the API key'),
  history: z
    .array(z.object({ role: z.enum(['user', 'agent']), text: TextInput }))
    .max(mostHistory)
    .nullish()
    .describe('What was said before, oldest first'),
  instructions: z.string().max(32_768).nullish().describe('Instead of those of the agent'),
  tools: z
    .enum(['none', 'dry', 'real'])
    .nullish()
    .describe('none: none are offered; dry (default): they are offered and not called; real: they are called, unasked'),
})

const Step = z.object({
  kind: z.enum(['function', 'mcp', 'search']),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional().describe('Absent where they are no JSON object'),
  result: z.string().optional().describe('Absent where it was not called'),
  outcome: z.enum(['ok', 'error', 'unknown', 'skipped']),
})

export const AgentTest = z
  .object({
    text: z.string(),
    finish: z.string().optional(),
    error: z.string().optional().describe('As in runs'),
    detail: z.string().optional().describe('What the provider said of the error'),
    usage: z.object({ input: Int, output: Int, cached: Int }).describe('Tokens'),
    duration: Int.describe('Milliseconds'),
    steps: z.array(Step).optional(),
    system: z.string().describe('What the model was told of who it is'),
  })
  .meta({ id: 'AgentTest' })
