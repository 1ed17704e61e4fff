/** How much there is of everything in a seeded deployment. Numbers of apps are multiples of 2,000. */
export interface Size {
  users: number
  /** Of these in the first directory; each other directory has a hundred of the next ones. */
  company: number
  directories: number
  apps: number
  /** Members of the largest room. */
  crowd: number
  /** A fifth of them in one room. */
  messages: number
  posts: number
  comments: number
  files: number
  notifications: number
  /**
   * Of them those of the busiest person, who is in a tenth of the apps: at most as many as a user keeps. The newest fifth of
   * these is unread.
   */
  busiest: number
  deliveries: number
  /** What of content, users and apps is in the trash, in thousandths. */
  trashed: number
}

const large: Size = {
  users: 1_000_000,
  company: 200_000,
  directories: 981,
  apps: 200_000,
  crowd: 100_000,
  messages: 10_000_000,
  posts: 500_000,
  comments: 2_000_000,
  files: 500_000,
  notifications: 5_000_000,
  busiest: 2_000,
  deliveries: 100_000,
  trashed: 10,
}

/** A hundredth of it, with as many people in the busiest person's apps as lists treat as many. */
const small: Size = {
  users: 10_000,
  company: 4_000,
  directories: 31,
  apps: 2_000,
  crowd: 3_000,
  messages: 100_000,
  posts: 5_000,
  comments: 20_000,
  files: 5_000,
  notifications: 50_000,
  busiest: 2_000,
  deliveries: 1_000,
  trashed: 10,
}

export const sizes = { large, small }
export type SizeName = keyof typeof sizes
