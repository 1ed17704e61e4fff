import type { Post } from '@parley/client'
import { Feed, usePosts } from '@parley/react'

/** The feed of the company. */
export function News() {
  const isOpen = ({ options }: Post) => options?.data !== undefined && !options.data.some(({ has_voted }) => has_voted)
  const polls = usePosts('demo-feed', ({ data }) => data.filter(isOpen).length)
  return (
    <div className="column">
      <h2>News</h2>
      {polls > 0 && (
        <p className="lead">{polls === 1 ? 'One poll waits for your vote.' : `${polls} polls wait for your vote.`}</p>
      )}
      <Feed app="demo-feed" />
    </div>
  )
}
