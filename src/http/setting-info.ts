/** A setting as it is shown. */
export interface SettingInfo {
  /** The environment variable. */
  name: string
  /** `[set]` for a secret; null where there is none. */
  value: string | null
  default: string | null
  source: 'env' | '.env' | 'default'
  description: string
}
