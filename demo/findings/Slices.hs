-- Of many documents the title is kept.
--
-- > Slices slices    as a slice, which retains the document
-- > Slices copies    as a copy
-- > Slices file      as a copy, besides one large text
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM, replicateM_, when)
import qualified Data.Text as Text
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  file <- evaluate (Text.replicate (if how == "file" then 8000000 else 1) (Text.pack "x"))
  performMajorGC
  titles <- forM [1 .. 2000 :: Int] $ \number -> do
    document <- evaluate (Text.replicate 1000 (Text.pack ("title " ++ show number ++ "\n")))
    let title = Text.takeWhile (/= '\n') document
    when (number `mod` 250 == 0) performMajorGC
    evaluate (if how == "slices" then title else Text.copy title)
  replicateM_ 5 performMajorGC
  print (sum (map Text.length (file : titles)))
