{-# LANGUAGE CPP, OverloadedStrings #-}
-- | Reads articles as JSON, a line each, makes an index of their words, answers queries and writes a report.
--
-- It is an honest small program, with the habits of such programs, to be profiled in every way that GHC has:
--
-- * the text is read at the start, and most of it is looked at much later (lag);
-- * each article keeps all that was parsed, though only its title is asked for after the index is made (drag);
-- * some fields are parsed and never looked at (void);
-- * cost centres, modules, types, closures and info tables each tell another part of the same story.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad
import Data.Bits (shiftR, xor)
import Data.Char (isAlpha, isDigit)
import qualified Data.IntMap.Strict as IntMap
import Data.List (foldl', sortOn)
import qualified Data.Map.Strict as Map
import Data.Ord (Down (..))
import Data.Text (Text)
import qualified Data.Text as Text
import Debug.Trace (traceMarkerIO)
#if defined(ERAS)
import GHC.Profiling.Eras (incrementUserEra)
#endif

-- JSON.

data Json
  = Null
  | Bool !Bool
  | Number !Double
  | String !Text
  | Array [Json]
  | Object (Map.Map Text Json)

type Parser a = Text -> Maybe (a, Text)

json :: Parser Json
json text = case Text.uncons (Text.stripStart text) of
  Just ('"', rest) -> do
    (value, rest') <- quoted rest
    Just (String value, rest')
  Just ('[', rest) -> do
    (values, rest') <- separated ']' json rest
    Just (Array values, rest')
  Just ('{', rest) -> do
    (fields, rest') <- separated '}' field rest
    Just (Object (Map.fromList fields), rest')
  Just ('n', rest) -> Just (Null, Text.drop 3 rest)
  Just ('t', rest) -> Just (Bool True, Text.drop 3 rest)
  Just ('f', rest) -> Just (Bool False, Text.drop 4 rest)
  Just _ -> number (Text.stripStart text)
  Nothing -> Nothing

-- | The text up to the closing quote; our articles have nothing to escape.
quoted :: Parser Text
quoted text = case Text.break (== '"') text of
  (value, rest) | Text.null rest -> Nothing
                | otherwise -> Just (Text.copy value, Text.drop 1 rest)

number :: Parser Json
number text = case Text.span (\c -> isDigit c || c `elem` ("-.e" :: String)) text of
  (digits, rest) | Text.null digits -> Nothing
                 | otherwise -> Just (Number (read (Text.unpack digits)), rest)

field :: Parser (Text, Json)
field text = do
  ('"', rest) <- Text.uncons (Text.stripStart text)
  (key, rest') <- quoted rest
  (':', rest'') <- Text.uncons (Text.stripStart rest')
  (value, end) <- json rest''
  Just ((key, value), end)

separated :: Char -> Parser a -> Parser [a]
separated close item text = case Text.uncons (Text.stripStart text) of
  Just (c, rest) | c == close -> Just ([], rest)
                 | c == ',' -> separated close item rest
  _ -> do
    (value, rest) <- item text
    (values, end) <- separated close item rest
    Just (value : values, end)

-- Articles.

data Article = Article
  { title :: Text
  , author :: Text
  , body :: Text
  , tags :: [Text]
  , fields :: Json -- ^ all there was, in case that somebody asks
  }

article :: Json -> Maybe Article
article value@(Object object) = do
  String itsTitle <- Map.lookup "title" object
  String itsAuthor <- Map.lookup "author" object
  String itsBody <- Map.lookup "body" object
  Array itsTags <- Map.lookup "tags" object
  Just (Article itsTitle itsAuthor itsBody [ tag | String tag <- itsTags ] value)
article _ = Nothing

parseLine :: Text -> Maybe Article
parseLine line = json line >>= article . fst

-- The index: for each word, in which articles it is, and where.

type Index = Map.Map Text (IntMap.IntMap [Int])

wordsOf :: Text -> [Text]
wordsOf = filter (not . Text.null) . Text.split (not . isAlpha) . Text.toLower

addArticle :: Index -> (Int, Article) -> Index
addArticle index (n, this) = foldl' add index (zip [0 ..] (wordsOf (body this)))
  where add words' (place, word) = Map.insertWith (IntMap.unionWith (++)) word (IntMap.singleton n [place]) words'

-- | The best articles for some words: rare words count more.
query :: Index -> Int -> [Text] -> [(Int, Double)]
query index total asked = take 10 (sortOn (Down . snd) (IntMap.toList scores))
  where
    scores = IntMap.unionsWith (+) (map score asked)
    score word = case Map.lookup word index of
      Nothing -> IntMap.empty
      Just places -> IntMap.map (\at -> fromIntegral (length at) * rarity places) places
    rarity places = log (fromIntegral total / fromIntegral (IntMap.size places)) :: Double

-- The report: how often each author used which word.

type Table = Map.Map (Text, Text) Int

report :: IntMap.IntMap Article -> Table
report articles = Map.filter (> 2) (foldl' add Map.empty (IntMap.elems articles))
  where add table this = foldl' (\t word -> Map.insertWith (+) (author this, word) 1 t) table (filter long (wordsOf (title this)) ++ tags this)
        long word = Text.length word > 5

-- The articles that are read: made up, the same each time.

scramble :: Int -> Int
scramble n = (x `xor` (x `shiftR` 15)) `mod` 1000003
  where x = (n + 1) * 2654435761

-- | Some words are used often, most of them seldom.
vocabulary :: Int -> Text
vocabulary n = Text.concat [ syllables !! (scramble (k + 7 * word) `mod` length syllables) | k <- [0 .. 1 + word `mod` 3] ]
  where
    word = (scramble n * scramble (n + 1)) `div` 1000003 `div` 250
    syllables = Text.words "ka lo mi ne ro ta ves sil dor ban fer gol him jun pel qua rin ster tol ul var wen"

line :: Int -> Text
line n = Text.concat
  [ "{\"title\": ", quote (sentence 1 6), ", \"author\": ", quote (vocabulary (n `mod` 40)), ", \"year\": ", Text.pack (show (1950 + n `mod` 70))
  , ", \"reviewed\": true, \"tags\": [", Text.intercalate ", " (map (quote . vocabulary . (+ n)) [1 .. 4]), "]"
  , ", \"links\": [", Text.intercalate ", " (map (Text.pack . show . scramble . (+ n)) [1 .. 12]), "]"
  , ", \"body\": ", quote (sentence 10 90), "}" ]
  where quote text = "\"" <> text <> "\""
        sentence from size = Text.unwords (map (vocabulary . (+ 131 * n)) [from .. from + size])

-- | Announces what is done next; in a profile by eras it is the next era.
phase :: String -> IO ()
phase name = do
  traceMarkerIO name
#if defined(ERAS)
  void (incrementUserEra 1)
#endif

main :: IO ()
main = do
  let total = 7000
  phase "read"
  text <- evaluate (Text.unlines (map line [1 .. total]))
  phase "parse"
  let articles = IntMap.fromList (zip [1 ..] [ this | Just this <- map parseLine (Text.lines text) ])
  putStrLn (show (IntMap.size articles) ++ " articles")
  phase "index"
  index <- evaluate (foldl' addArticle Map.empty (IntMap.toList articles))
  putStrLn (show (Map.size index) ++ " words")
  phase "queries"
  found <- forM [1 .. 400] $ \n -> do
    let best = query index total [ vocabulary (n * k) | k <- [3, 5, 11] ]
    evaluate (sum [ Text.length (title (articles IntMap.! which)) | (which, _) <- best ])
  putStrLn (show (sum found) ++ " characters of titles")
  phase "report"
  let table = report articles
  forM_ (take 5 (sortOn (Down . snd) (Map.toList table))) print
  phase "done"
