import type { Person } from '../page/people.ts'

/** Something said: how many days ago and when, by whom, and what. */
export interface Said {
  at: [daysAgo: number, time: string]
  by: Person
  text: string
  options?: string[]
  votes?: [Person, number][]
  reactions?: [Person, string][]
  picture?: 'table' | 'workshop' | 'forest'
  comments?: Said[]
}

const say = (days: number, time: string, by: Person, text: string, more: Partial<Said> = {}): Said => ({
  at: [days, time],
  by,
  text,
  ...more,
})

export const lobby: Said[] = [
  say(6, '08:52', 'ada', 'Good morning! The new sign is up. **Hearth & Pine**, in brass, above the door.', {
    reactions: [
      ['ben', '🎉'],
      ['cleo', '🎉'],
      ['fay', '❤️'],
    ],
  }),
  say(6, '08:55', 'cleo', 'It looks *so* good from across the street.', { picture: 'workshop' }),
  say(6, '09:10', 'emil', 'The courier asked whether we are a bakery now.'),
  say(6, '09:11', 'ben', 'Tell them yes. We bake tables.', {
    reactions: [
      ['ada', '😂'],
      ['emil', '😂'],
      ['dana', '😂'],
    ],
  }),
  say(4, '11:30', 'dana', 'Friday is the open house. Who brings the cake?', {
    options: ['Ada: chocolate', 'Cleo: lemon', 'Both, obviously'],
    votes: [
      ['ben', 2],
      ['cleo', 2],
      ['emil', 2],
      ['fay', 0],
    ],
  }),
  say(4, '11:34', 'fay', 'I can help with coffee from 14:00.'),
  say(2, '16:20', 'ada', '14 people have signed up so far. We need six more chairs in the front room.'),
  say(2, '16:31', 'ben', 'I have eight oak ones that are only waiting for oil. They will be dry by Friday.', {
    reactions: [['ada', '🙏']],
  }),
  say(1, '09:02', 'emil', 'The van is back from service, keys are in the drawer.'),
]

export const launch: Said[] = [
  say(
    9,
    '10:00',
    'cleo',
    'First round for the spring collection. Three pieces: a table, a bench, a shelf that needs no screws.',
  ),
  say(9, '10:04', 'cleo', 'The table, as we drew it on Tuesday:', {
    picture: 'table',
    reactions: [
      ['ada', '❤️'],
      ['dana', '👍'],
      ['ben', '👍'],
    ],
  }),
  say(9, '10:20', 'ben', 'The legs want to be 4 mm thicker at the joint, otherwise I love it.'),
  say(9, '10:22', 'cleo', 'Fair. I will send new drawings tomorrow.'),
  say(7, '14:12', 'dana', 'Two shops have asked about delivery dates. What may I promise?'),
  say(7, '14:30', 'ben', 'With the oak that is here: twelve tables by the end of the month. Benches two weeks later.'),
  say(7, '14:31', 'dana', 'That is all I need. I write to them today.', { reactions: [['ben', '👍']] }),
  say(
    5,
    '09:15',
    'emil',
    'Prices for the crates:\n\n| piece | each | for 50 |\n|---|---|---|\n| table | 21.00 | 890.00 |\n| bench | 14.50 | 610.00 |',
  ),
  say(5, '09:40', 'ada', 'Take fifty of each. We will need them.'),
  say(3, '13:05', 'fay', 'What do we answer when people ask for walnut? It is the third time this week.'),
  say(
    3,
    '13:18',
    'ada',
    'That we are looking into it for autumn. And count them, please, that is the best reason to do it.',
  ),
  say(
    1,
    '15:45',
    'cleo',
    'The drawings are in **Documents**: final, with the thicker joint. Please have a last look.',
    {
      reactions: [['ben', '👍']],
    },
  ),
  say(1, '15:58', 'ben', 'Looks right. I cut the first legs on Monday.'),
]

export const workshop: Said[] = [
  say(
    8,
    '07:45',
    'ben',
    'The band saw is down until the new blade is here. Use the table saw, and *please* the guard.',
  ),
  say(8, '12:10', 'emil', 'Blade comes tomorrow with the morning delivery.'),
  say(7, '10:02', 'ben', 'Saw runs again. Thank you, Emil.', { reactions: [['emil', '👍']] }),
  say(3, '08:30', 'ben', 'Humidity in the store is at 58 %. We should run the dryer over the weekend.'),
  say(3, '08:41', 'emil', 'Timer is set.'),
  say(1, '17:20', 'ben', 'Checklist for tomorrow:\n\n1. sand the bench seats\n2. oil, first coat\n3. sweep, properly'),
]

export const pair: Said[] = [
  say(5, '12:02', 'ben', 'Do you have a minute for the oak order? The mill wants an answer by tomorrow.'),
  say(5, '12:05', 'ada', 'Yes. Take the larger lot, we will use it.'),
  say(2, '18:10', 'ada', 'Thank you for staying so long today.'),
  say(2, '18:14', 'ben', 'It was worth it. You should see the grain on that top.', { reactions: [['ada', '❤️']] }),
  say(1, '11:48', 'ben', 'Lunch?'),
]

export const support: Said[] = [
  say(4, '10:10', 'fay', 'Ada, a customer asks whether the shelf holds records. 40 kg a metre?'),
  say(4, '10:25', 'ada', 'It does, tested with twice that. You may quote me.'),
  say(4, '10:26', 'fay', 'Wonderful, that sells three.'),
]

export const posts: Said[] = [
  say(
    6,
    '09:00',
    'ada',
    '## We have a sign\n\nAfter four years of “the door next to the florist” there is brass above ours. Thank you, Cleo, for the lettering.',
    {
      picture: 'workshop',
      reactions: [
        ['ben', '🎉'],
        ['cleo', '❤️'],
        ['dana', '🎉'],
        ['fay', '🎉'],
      ],
      comments: [
        say(6, '09:20', 'fay', 'The florist came over to congratulate us!'),
        say(6, '09:31', 'cleo', 'Lettering is the easy part. Ben hung it *straight*.'),
      ],
    },
  ),
  say(4, '15:00', 'dana', 'What shall we plant in front of the shop?', {
    options: ['Lavender', 'A small pine', 'Tomatoes'],
    votes: [
      ['ada', 1],
      ['ben', 1],
      ['cleo', 0],
      ['emil', 2],
      ['fay', 1],
    ],
    comments: [say(4, '15:12', 'ben', 'It is in the name. Pine.')],
  }),
  say(
    2,
    '10:30',
    'emil',
    'Our oak comes from here: forty kilometres away, felled in winter, three new trees for each. I took this on Sunday.',
    {
      picture: 'forest',
      reactions: [
        ['ada', '❤️'],
        ['cleo', '😮'],
      ],
      comments: [say(2, '10:44', 'dana', 'May I use that for the catalogue?'), say(2, '10:50', 'emil', 'Of course.')],
    },
  ),
  say(
    1,
    '16:05',
    'cleo',
    'The spring collection is drawn. **One table, one bench, one shelf**, and nothing that we would not put into our own homes.',
    {
      picture: 'table',
      reactions: [
        ['ada', '🎉'],
        ['ben', '👍'],
        ['dana', '❤️'],
      ],
    },
  ),
]

export const remarks: Said[] = [
  say(1, '15:50', 'cleo', 'Joint is 4 mm thicker now, as Ben asked.'),
  say(1, '16:02', 'ben', 'Thank you. Page 2: is the overhang meant to be 60 mm on both ends?'),
  say(1, '16:09', 'cleo', 'Yes, both. It carries better than it looks.'),
]
