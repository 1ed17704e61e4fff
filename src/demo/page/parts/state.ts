import type { ReactNode } from 'react'
import type { Still } from '@parley/client/still'

/** A part in one state: what the client shows, and what is made of that. */
export interface State {
  name: string
  still: Still
  show: ReactNode
}
