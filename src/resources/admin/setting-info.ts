import { z } from 'zod'

/** A setting as it is shown. */
export interface SettingInfo {
  /** The environment variable. */
  name: string
  /** `[set]` for a secret; null where there is none. */
  value: string | null
  default: string | null
  source: 'env' | '.env' | 'default'
  description: string
  /** What a careful owner would change about it now; absent where all is well. */
  warning?: string
}

export const SettingShape = z
  .object({
    name: z.string().describe('The environment variable'),
    value: z.string().optional().describe('`[set]` stands for a secret; absent where there is none'),
    default: z.string().optional(),
    source: z.enum(['env', '.env', 'default']),
    description: z.string(),
    warning: z.string().optional().describe('What a careful owner would change about it now'),
  })
  .meta({ id: 'Setting' })
