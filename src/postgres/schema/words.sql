-- What `q` is compared by: the one place where texts become words, stored ones and those that are asked for. Two places
-- would find different words in one text.
-- Functions that are built of each other are bound when they are made (`return …` instead of a string): by name,
-- PostgreSQL finds none of these when it makes an index or restores a dump.
do $words$
declare
  collations constant text[] := '{pg_c_utf8,und-x-icu,C.utf8,C.UTF-8}';
  -- Lower case as Unicode has it, whatever the locale of the database. PostgreSQL 17 and later always have the first.
  unicode constant text := coalesce((
    select quote_ident(collname) from pg_collation
    where collname = any(collations) and collencoding in (-1, pg_char_to_encoding('utf8'))
    order by array_position(collations, collname::text) limit 1), '"default"');
  -- What a text may have or lack without being another: accents, and the points of Hebrew and Arabic.
  marks constant text := '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7'
    '\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]';
  -- Letters that Unicode takes for letters of their own and that are typed without their stroke or hook. Those of widely
  -- written languages come first, because the others cost a second pass.
  often constant text := 'øđłıðħŧŋĸ';
  often_as constant text := 'odlidhtnq';
  seldom constant text := 'ᲀᲁᲂᲃᲄᲅᲆᲇᲈƀƃƈƌƒƙƚƞƥƫƭƴƶǥȡȥȴȵȶȷȼȿɀɇɉɍɏɓɕɖɗɛɟɠɡɢɦɧɨɩɪɫɬɭɱɲɳɴɼɽɾʀʂʈʉʋʏʐʑʙʛʜʝʟʠᴀᴃᴄᴅᴆᴇᴊᴋᴌᴍᴏᴘᴛᴜᴠᴡᴢ'
    'ᵬᵭᵮᵯᵰᵱᵲᵳᵴᵵᵶᵻᵽᵾᶀᶁᶂᶃᶄᶅᶆᶇᶈᶉᶊᶌᶍᶎᶏᶑᶒᶓᶖᶙẜẝỽỿⱡⱥⱦⱨⱪⱬⱱⱳⱴⱸⱺꜰꜱꝁꝃꝅꝇꝉꝋꝍꝑꝓꝕꝗꝙꝟꝱꝲꝳꝴꝵꝶꝷꝺꝼꞇꞑꞓꞡꞣꞥꞧꞩ';
  seldom_as constant text := 'вдосттъѣꙋbbcdfklnpttyzgdzlntjcszejrybcddejggghhiiilllmnnnrrrrstuvyzzbghjlqabcddejklmoptuvwz'
    'bdfmnprrstzipubdfgklmnprsvxzadeeiussvylathkzvwveofskkklloopppqqvdlmnrrtdftncgknrs';
  several constant text[] := '{ƕ,ƣ,ȸ,ȹ,ɶ,ʣ,ʥ,ʦ,ʪ,ʫ,ᴁ,ᵫ,ᵺ,ỻ,ꜳ,ꜵ,ꜷ,ꜹ,ꜻ,ꜽ,ꝏ,ꝡ,ꝥ,ꝧ}';
  several_as constant text[] := '{hv,oi,db,qp,oe,dz,dz,ts,ls,lz,ae,ue,th,ll,aa,ao,au,av,av,ay,oo,vy,th,th}';
  -- What stands between words.
  spaces constant text := '\u0001-\u0020\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff';
  symbols constant text := '\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a1-\u00bf\u00d7\u00f7\u055a-\u055f'
    '\u0589\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u1361-\u1368\u2010-\u2027'
    '\u2030-\u205e\u20a0-\u20cf\u2190-\u25ff\u27c0-\u2bff\u2e00-\u2e7f\u3001-\u303f';
  pictographs constant text := '\u2600-\u27bf\U0001f000-\U0001ffff';
  -- Scripts that put nothing between words: each character is a word.
  unspaced constant text := '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff\U00020000-\U0003ffff';
begin
  -- Lower case without accents.
  execute format($make$
    create function fold(t text) returns text language plpgsql immutable strict parallel safe as $body$
    begin
      -- Most texts are plain ASCII, for which this takes a third of the time.
      if octet_length(t) = length(t) then
        return lower(t collate "C");
      end if;
      t := lower(regexp_replace(normalize(t, nfkd), %L, '', 'g') collate %s);
      if octet_length(t) = length(t) then
        return t;
      end if;
      if t !~ %L then
        return t;
      end if;
      t := replace(replace(replace(replace(translate(t, %L, %L), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
      -- ŀ and ẚ, which are two characters by now.
      t := replace(replace(t, 'l·', 'l'), 'aʾ', 'a');
      if t ~ %L then
        t := translate(t, %L, %L);
        for i in 1..%s loop
          t := replace(t, (%L::text[])[i], (%L::text[])[i]);
        end loop;
      end if;
      return t;
    end $body$ $make$,
    marks, unicode, '[ßæœþς·ʾ' || often || seldom || array_to_string(several, '') || ']', often || 'ς', often_as || 'σ',
    '[' || seldom || array_to_string(several, '') || ']', seldom, seldom_as,
    array_length(several, 1), several, several_as);

  -- The words of a folded name, and its symbols, which are words of their own.
  execute format($make$
    create function split_name(folded text) returns text[] language plpgsql immutable parallel safe as $body$
    begin
      return array(
        -- PostgreSQL refuses lexemes above 2 KiB.
        select left(w, 200)
        from unnest(string_to_array(regexp_replace(regexp_replace(folded, %L, E'\n\\1\n', 'g'), %L, E'\n', 'g'), E'\n')) w
        where w <> '');
    end $body$ $make$,
    format('([%s])', symbols || pictographs || unspaced), format('[%s]+', spaces));

  -- What is looked for by `q`: each of its words, as the beginning of a word or as a whole word. Words that are symbols
  -- are passed over unless they are asked for. Where there is no word to look for, everything is found.
  execute format($make$
    create function name_query(q text, is_prefix boolean, with_symbols boolean) returns tsquery
      language sql immutable parallel safe
      return (
        select coalesce(
          string_agg(
            '''' || replace(replace(w, '\', '\\'), '''', '''''') || case when is_prefix then ''':*' else '''' end, ' & '),
          '! '' ''')::tsquery
        from unnest(split_name(fold(q))) w where with_symbols or w !~ %L) $make$,
    format('^[%s]$', symbols || pictographs));

  -- Regular expressions that a folded text matches where each word of `q` is the beginning of one of its words. What
  -- stands between spaces may be several words with symbols between them; it is to be found as a whole.
  execute format($make$
    create function word_patterns(q text) returns text[] language sql immutable parallel safe
      return array(
        select case when w ~ %L then '' else %L end
          || regexp_replace(w, '[\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e]', '\\\&', 'g')
        from unnest(string_to_array(regexp_replace(fold(q), %L, ' ', 'g'), ' ')) w where w <> '') $make$,
    format('^[%s]', symbols || pictographs || unspaced),
    format('(^|[%s])', spaces || symbols || pictographs || unspaced),
    format('[%s]+', spaces));

  -- A folded text with `glue` in place of whatever stands between its words.
  execute format($make$
    create function split_text(folded text, glue text) returns text language sql immutable parallel safe
      return regexp_replace(folded, %L, glue, 'g') $make$,
    format('[%1$s]+|(?=[%2$s])|(?<=[%2$s])', spaces || symbols, pictographs || unspaced));
end $words$;

-- The words of a name, which `name_query` finds.
create function name_terms(name text) returns tsvector language sql immutable parallel safe
  return array_to_tsvector(split_name(fold(name)));

-- What users may look for in other users. Without mail addresses and usernames, which are among the words of
-- `users.search` for API keys: by beginnings of words, a user could spell them out.
create function person_terms(
  display_name text, name text, uid text, given_name text, middle_name text, family_name text, nickname text
) returns tsvector language sql immutable parallel safe
  return name_terms(display_name || ' ' || coalesce(name, '') || ' ' || coalesce(uid, '') || ' ' || coalesce(given_name, '')
    || ' ' || coalesce(middle_name, '') || ' ' || coalesce(family_name, '') || ' ' || coalesce(nickname, ''));
