{-# LANGUAGE OverloadedStrings #-}
-- | A shop on the web, with a leak that nothing in its code looks like.
--
-- Customers send requests, workers answer them with pages out of a catalogue, baskets are kept for the latest
-- sessions, and every page is counted in the statistics, which somebody looks at twice.
--
-- The statistics are the leak: 'count' puts a number and a sum into a lazy map. What is evaluated is the map, not
-- what stands in it, so each request leaves a thunk that waits to be added, and holds the whole page whose length
-- it will add. The map itself stays as small as it looks: three entries. Looking at the statistics evaluates all of
-- it, and the memory is free again.
--
-- @shop-server fixed@ counts into a strict map: the same program, without the leak.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import Data.Bits (shiftR, xor)
import Data.List (foldl')
import qualified Data.Map as Map
import qualified Data.Map.Strict as Strict
import Data.Text (Text)
import qualified Data.Text as Text
import Debug.Trace (traceMarkerIO)
import GHC.Conc (labelThread)
import System.Environment (getArgs)

-- What is sold, and what customers ask for.

data Product = Product { name :: !Text, price :: !Int, description :: !Text }

type Catalogue = Map.Map Int Product

data Request
  = Look { session :: !Int, item :: !Int }
  | Buy { session :: !Int, item :: !Int }
  | Basket { session :: !Int, item :: !Int }

data Page = Page { route :: !Text, body :: !Text }

catalogue :: Catalogue
catalogue = Map.fromList [ (n, thing n) | n <- [0 .. 1999] ]
  where
    thing n = Product (title n) (100 + scramble n `mod` 9900) (Text.unwords (map pick [n .. n + 40]))
    title n = Text.unwords [pick (7 * n), pick (13 * n + 1), "no.", tshow n]
    pick n = wordsOfShops !! (scramble n `mod` length wordsOfShops)
    wordsOfShops =
      [ "small", "solid", "oak", "lamp", "chair", "blue", "enamel", "kettle", "with", "a", "handle", "of", "brass"
      , "and", "two", "drawers", "made", "by", "hand", "for", "the", "garden", "linen", "stool" ]

-- | A number that looks random, and is the same each time.
scramble :: Int -> Int
scramble n = (x `xor` (x `shiftR` 15)) `mod` 1000003
  where x = (n + 1) * 2654435761

tshow :: Show a => a -> Text
tshow = Text.pack . show

-- Baskets: those of the latest sessions are kept, so they stop growing.

type Baskets = Map.Map Int [Product]

keep :: Int -> Product -> Baskets -> Baskets
keep who thing baskets
  | Map.size grown > 4000 = Map.deleteMin grown
  | otherwise = grown
  where grown = Strict.insertWith (\new old -> take 6 (new ++ old)) who [thing] baskets

-- Statistics: how often each kind of page was sent, and how many characters that were.

data Traffic = Traffic { hits :: Int, characters :: Int }

type Statistics = Map.Map Text Traffic

count :: Page -> Statistics -> Statistics
count page = Map.insertWith add (route page) (Traffic 1 (Text.length (body page)))

add :: Traffic -> Traffic -> Traffic
add (Traffic h c) (Traffic hs cs) = Traffic (h + hs) (c + cs)

-- | The same without the leak: nothing is left to be added later.
countNow :: Page -> Statistics -> Statistics
countNow page = Strict.insertWith addNow (route page) $! Traffic 1 $! Text.length (body page)
  where addNow (Traffic h c) (Traffic hs cs) = (Traffic $! h + hs) $! c + cs

-- Answers.

render :: Request -> Product -> [Product] -> Page
render request thing basket = case request of
  Look {} -> page "/product" [name thing, description thing, "Price: " <> cents (price thing)]
  Buy {} -> page "/buy" ("Thank you. In your basket:" : map name basket)
  Basket {} -> page "/basket" (map line basket ++ ["Total: " <> cents (sum (map price basket))])
  where
    page to paragraphs = Page to (Text.unlines (header ++ map wrap paragraphs ++ ["</body></html>"]))
    header = ["<html><head><title>The shop</title></head>", "<body><h1>Welcome, visitor " <> tshow (session request) <> "</h1>"]
    wrap text = "<p>" <> text <> "</p>"
    line product = name product <> " " <> cents (price product)
    cents n = tshow (n `div` 100) <> "." <> Text.justifyRight 2 '0' (tshow (n `mod` 100))

data Shop = Shop
  { queue :: Chan [Request] -- ^ as they come over the network; none: it is evening
  , baskets :: MVar Baskets
  , statistics :: MVar Statistics
  , counting :: Page -> Statistics -> Statistics
  }

-- | Answers requests until there are no more.
worker :: Shop -> MVar () -> IO ()
worker shop done = readChan (queue shop) >>= \requests -> case requests of
  [] -> putMVar done ()
  _ -> mapM_ (answer shop) requests >> worker shop done

answer :: Shop -> Request -> IO ()
answer shop request = do
  let thing = catalogue Map.! item request
      change = case request of { Buy {} -> keep (session request) thing; _ -> id }
  basket <- modifyMVar (baskets shop) $ \old ->
    let new = change old in new `seq` pure (new, Map.findWithDefault [] (session request) new)
  page <- evaluate (render request thing basket)
  _ <- evaluate (Text.length (body page)) -- it is sent
  modifyMVar_ (statistics shop) (evaluate . counting shop page)

-- | The customers of a while: so many requests in each hundredth of a second. Gives the number of the next request.
customers :: Shop -> String -> Int -> Int -> Int -> IO Int
customers shop phase hundredths rate first = do
  traceMarkerIO phase
  forM_ [1 .. hundredths] $ \k -> do
    writeChan (queue shop) (map ask [first + (k - 1) * rate .. first + k * rate - 1])
    threadDelay 10000
  pure (first + hundredths * rate)
  where
    ask n = case scramble n `mod` 10 of
      0 -> Basket { session = visitor n, item = 0 }
      kind | kind < 4 -> Buy { session = visitor n, item = scramble (n * 3) `mod` 2000 }
           | otherwise -> Look { session = visitor n, item = scramble (n * 3) `mod` 2000 }
    visitor n = max 0 (n `div` 4 - scramble (n * 5) `mod` 300)

-- | What the page of the statistics shows.
report :: Shop -> IO ()
report shop = do
  traceMarkerIO "statistics are looked at"
  traffic <- readMVar (statistics shop)
  forM_ (Map.toList traffic) $ \(to, t) -> putStrLn (Text.unpack to ++ ": " ++ show (hits t) ++ " pages, " ++ show (characters t) ++ " characters")

main :: IO ()
main = do
  args <- getArgs
  shop <- Shop <$> newChan <*> newMVar Map.empty <*> newMVar Map.empty
    <*> pure (if args == ["fixed"] then countNow else count)
  traceMarkerIO "catalogue"
  _ <- evaluate (foldl' (\n p -> n + Text.length (name p) + Text.length (description p)) 0 catalogue)
  ends <- forM [1, 2 :: Int] $ \n -> do
    end <- newEmptyMVar
    thread <- forkIO (worker shop end)
    labelThread thread ("worker " ++ show n)
    pure end
  myThreadId >>= \me -> labelThread me "customers"
  let busy = 200
  noon <- customers shop "early morning" 100 (busy `div` 4) 0 >>= customers shop "morning" 150 busy
  report shop
  _ <- customers shop "afternoon" 200 busy noon >>= customers shop "evening" 80 (busy `div` 4)
  report shop
  mapM_ (const (writeChan (queue shop) [])) ends
  mapM_ takeMVar ends
